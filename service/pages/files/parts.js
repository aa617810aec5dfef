// What pages are made of: elements, tables and figures, and how numbers and times are said.
// Every text of the service becomes a text node: names are data, never markup.

export const byId = (id) => document.getElementById(id);

// Marks that turn the direction of all that follows: in a name of data they would turn words of the page, too.
export const plain = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

export const el = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false).map((child) => (typeof child === "string" ? plain(child) : child)));
  return made;
};

// A gateway may stand below a path of its host: what begins with / is found from the page that asks.
const root = document.documentElement.dataset.root;
export const fromRoot = (address) => (address.startsWith("/") ? root + address.slice(1) : address);
// The parts of this page's own address, as the gateway knows it: ["jobs", ID].
export const here = location.pathname.split("/").slice(-root.split("../").length).map(decodeURIComponent);

export const link = (address, words, attributes = {}) => el("a", { href: fromRoot(address), ...attributes }, words);

// --- numbers and times ---------------------------------------------------------------------------------------------

export const NOTHING = "–";
const known = (value) => value !== null && value !== undefined;
export const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en") : NOTHING);
export const short = (value, digits = 1) => (!known(value) ? NOTHING : value >= 100 ? whole(value) : value.toLocaleString("en", { maximumFractionDigits: digits }));
export const share = (value) => (known(value) ? `${Math.round(100 * value)} %` : NOTHING);
export const some = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;

export const bytes = (value) => {
  if (!known(value)) return NOTHING;
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${(value / 1024 ** power).toFixed(power ? 1 : 0)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
};

export const span = (seconds) => {
  if (!known(seconds)) return NOTHING;
  if (seconds > 0 && seconds < 10) return `${Number(seconds.toPrecision(2))} s`;
  const [size, unit] = seconds < 90 ? [1, "s"] : seconds < 5400 ? [60, "min"] : seconds < 172800 ? [3600, "h"] : [86400, "days"];
  return `${Math.round(seconds / size)} ${unit}`;
};
export const since = (time) => Math.max(0, (Date.now() - Date.parse(time)) / 1000);
export const ago = (time) => `${span(Math.round(since(time)))} ago`;

const two = (number) => String(number).padStart(2, "0");
export const clock = (date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
export const moment = (time) => {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(date)}`;
};
export const spaced = (name) => name.replaceAll("_", " ");

// --- figures -------------------------------------------------------------------------------------------------------

// Columns are [title, kind]: a "number" stands at the right, a "name" is never broken.
export const table = (caption, columns, rows) => el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${caption}, as a table` },
  el("table", {},
    el("thead", {}, el("tr", {}, columns.map(([title, kind]) => (title ? el("th", { scope: "col", class: kind }, title) : el("td"))))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) => el(at ? "td" : "th", { scope: at ? null : "row", class: columns[at][1] }, cell)))))));

export const card = (name, value, ...more) => el("div", { class: "card", "data-name": name }, el("h2", {}, name), el("b", {}, value), el("span", { class: "soft" }, ...more));

export const facts = (pairs) => el("dl", { class: "facts" }, pairs.filter(([, told]) => known(told) && told !== "").map(([name, told]) => el("div", {}, el("dt", {}, name), el("dd", {}, told))));

export const status = (name) => el("span", { class: `status ${name}` }, spaced(name));

export const progress = (counts, words = "requests done") => {
  const bar = el("progress", { max: Math.max(1, counts.total), "aria-label": words });
  bar.value = counts.completed + counts.failed;
  return bar;
};

export const section = (title, ...children) => {
  const id = `title-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), children);
};

// Ask before what nothing brings back; returns whether it is wanted.
export const confirmed = (question, word) => new Promise((resolve) => {
  const dialog = el("dialog", { "aria-label": word }, el("p", {}, question), el("form", { method: "dialog", class: "actions" },
    el("button", { value: "yes", class: "danger" }, word), el("button", { value: "" }, "Leave it")));
  dialog.addEventListener("close", () => {
    resolve(dialog.returnValue === "yes");
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
});

// Files may be dropped anywhere on a page, which would else be left for them; `place` says so.
export const takeDrops = (place, onFiles) => {
  for (const [kind, isOver] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      place.classList.toggle("over", isOver);
      if (kind !== "drop" || !event.dataTransfer.files.length) return;
      const folders = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory).map((entry) => entry.name);
      onFiles([...event.dataTransfer.files].filter((file) => !folders.includes(file.name)), folders);
    });
  }
  return place;
};

// What a job asks, in a few words.
export const cellName = (cell) => [cell.protocol, cell.condition, cell.rounds && `n${cell.rounds}`].filter(Boolean).join(" ");
export const planName = (spec) => {
  if (spec.judge) return `judges ${some(spec.judge.jobs.length, "job")}`;
  return `${spec.plan || spec.cells.map(cellName).join(", ") || "its first plan"}${spec.rounds ? ` n${spec.rounds}` : ""}`;
};
// What a person called the job, else what it asks.
export const jobTitle = (spec) => (spec.metadata && spec.metadata.title) || `${spec.dataset}: ${planName(spec)}`;
// A page of its own, which is there at once and brings the report, with the key of this tab.
export const reportAddress = (job) => `/jobs/${encodeURIComponent(job)}/report`;
export const hasEnded = (job) => ["completed", "failed", "cancelled"].includes(job.status);
