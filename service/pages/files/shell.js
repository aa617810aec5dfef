// What all pages share: colours, the key, asking the gateway, and asking it again and again.

import { byId, el, fromRoot, link, plain } from "./parts.js";

const root = document.documentElement;

// --- colours: as the system, or as somebody chose -------------------------------------------------------------------

const THEMES = { "": "as the system", light: "light", dark: "dark" };
const THEME = "gigavqa.theme";
const changes = new Set();

const paint = (theme) => {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const change of changes) change();
};
export const onColours = (change) => changes.add(change);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(root.dataset.theme));

// A colour as it is now: a drawing takes no variable.
export const colour = (name) => {
  const probe = el("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const chosen = () => Object.keys(THEMES).find((name) => name === localStorage.getItem(THEME)) ?? "";
paint(chosen());

const nameTheme = () => {
  byId("theme").textContent = { "": "◐", light: "☀", dark: "☾" }[chosen()];
  byId("theme").setAttribute("aria-label", `Colours: ${THEMES[chosen()]}`);
  byId("theme").title = `Colours: ${THEMES[chosen()]}`;
};
const turnTheme = () => {
  const names = Object.keys(THEMES);
  localStorage.setItem(THEME, names[(names.indexOf(chosen()) + 1) % names.length]);
  paint(chosen());
  nameTheme();
};

// --- the key, which this tab alone keeps ----------------------------------------------------------------------------

const KEPT = "gigavqa.key";
export const hasKey = () => Boolean(sessionStorage.getItem(KEPT));
export const withKey = () => (hasKey() ? { Authorization: `Bearer ${sessionStorage.getItem(KEPT)}` } : {});

const keepKey = (event) => {
  event.preventDefault();
  const key = byId("secret").value.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) { // no header can carry it
    say("This is no key: keys are gvq_ and letters, digits, dashes of ASCII alone. Quotes or other marks may have come with it as it was copied.");
    return;
  }
  sessionStorage.setItem(KEPT, key);
  byId("secret").value = "";
  location.reload();
};
// With all that this tab keeps of its holder, such as questions.
const forgetKey = () => {
  if (sessionStorage.length > 1 && !confirm("What this tab has kept by the key, such as questions, is forgotten with it.")) return;
  sessionStorage.clear();
  location.reload();
};

// --- asking the gateway ---------------------------------------------------------------------------------------------

// What it answered instead, in its own words; status 0 where nothing came.
export class Refusal extends Error {
  constructor(status, words, findings = []) {
    super(words);
    this.status = status;
    this.findings = findings;
  }
}

// All that it says, in one sentence after the other, for a line beside a button.
export const wordsOf = ({ message, findings }) => {
  const told = findings.map(({ file, line, sample, detail }) => [sample ?? (line ? `${file}:${line}` : file), detail].filter(Boolean).join(": "));
  return [...new Set([message, ...told])].slice(0, 6).join(". ");
};

const refusalOf = (status, text) => {
  try {
    const told = JSON.parse(text);
    return new Refusal(status, told.detail || told.error?.message || `the gateway answers ${status}`, told.errors);
  } catch {
    return new Refusal(status, `the gateway answers ${status}`);
  }
};

// A browser sends no file that has changed since it was chosen.
const changedOf = async (body) => {
  if (!(body instanceof FormData)) return null;
  for (const sent of body.values()) {
    if (sent instanceof File && !await sent.slice(0, 1).arrayBuffer().then(() => true, () => false)) return new Refusal(0, `${sent.name} has changed or gone since it was chosen: choose it again.`);
  }
  return null;
};
const AWAY = new Refusal(0, "The gateway does not answer.");

export const ask = async (path, options = {}) => {
  const answer = await fetch(fromRoot(path), { ...options, headers: { ...options.headers, ...withKey() } }).catch(async () => { throw await changedOf(options.body) ?? AWAY; });
  if (answer.ok) return answer;
  if (answer.status === 401 || answer.status === 403) byId("key").hidden = false;
  throw refusalOf(answer.status, await answer.text());
};
// Ask for a key before somebody begins what needs one; returns why it is too little, or nothing.
export const lacks = async (...roles) => {
  const answer = await ask("/v1/plans?benchmark=questions");
  const role = answer.headers.get("X-Key-Role");
  return !role || roles.includes(role) ? "" : `The key's role is '${role}'; this needs '${roles[0]}'.`;
};
// The events of a stream, each as its text, until it ends.
export async function* eventsOf(path, options) {
  const reader = (await ask(path, options)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const next = () => reader.read().catch(() => ({ done: true })); // the gateway ended, or nobody waits for it any more
  for (let read = await next(); !read.done; read = await next()) {
    const parts = (rest + read.value).split(/\r?\n\r?\n/);
    rest = parts.pop();
    yield* parts;
  }
}
export const get = async (path) => (await ask(path)).json();

// A link would come without the key: what it leads to is then brought here and handed over as a file.
export const download = (path, name, words) => link(path, words, {
  download: name,
  onclick: (event) => {
    if (!hasKey()) return;
    event.preventDefault();
    attempt(async () => {
      const address = URL.createObjectURL(await (await ask(path)).blob());
      el("a", { href: address, download: name }).click();
      URL.revokeObjectURL(address);
    });
  },
});

// --- what a page says -----------------------------------------------------------------------------------------------

export const say = (words) => tell("said", words);
export const tell = (id, words) => { if (byId(id).textContent !== plain(words)) byId(id).textContent = plain(words); };

export const title = (words) => {
  byId("title").textContent = plain(words);
  document.title = `${plain(words)} · gigavqa`;
};

// Where this page stands: [address, words] of each page above it, and its own words.
export const crumbs = (...above) => {
  byId("crumbs").replaceChildren(...above.flatMap(([address, words], at) => [at ? " / " : "", address ? link(address, words) : words]));
  byId("crumbs").hidden = false;
};

export const show = (...children) => byId("content").replaceChildren(...children.flat().filter(Boolean));

// Where the viewer shows a picture, small or with everything that can be seen in it; nothing where there is none.
export const viewer = root.dataset.viewer;
export const pictureName = (dataset, image) => (/^(https?|s3|gs|az):\/\//.test(image) ? image : `${dataset}/${image}`);
const TRIES = 8; // a large picture is decoded once, which may take longer than a viewer lets somebody wait
export const thumbnail = (name, side, alt, region = "full", show = "") => {
  const address = `${viewer}/iiif/3/${encodeURIComponent(name)}/${region}/!${side},${side}/0/default.jpg${show ? `?${new URLSearchParams({ show })}` : ""}`;
  const image = el("img", { src: address, alt, loading: "lazy" });
  let tries = 0;
  image.addEventListener("error", () => {
    tries += 1;
    if (tries < TRIES) setTimeout(() => { image.src = address; }, 2000 * tries);
    else image.replaceWith(el("span", { class: "soft" }, "no picture came; the viewer may want a key first"));
  });
  return image;
};
export const closer = (wish) => `${viewer}/view#${encodeURIComponent(JSON.stringify(wish))}`;

// --- asking again and again -----------------------------------------------------------------------------------------

const PAUSE = 2000;
const REST = 4; // times as long as an answer took: what is large is asked for less often

// Do it now, and every two seconds while somebody can see it, until it returns true.
export const repeat = (look) => {
  let timer = 0;
  let turn = 0;
  const again = async () => {
    const mine = ++turn;
    clearTimeout(timer);
    const began = performance.now();
    let isOver = false;
    try {
      if (document.visibilityState === "visible") isOver = await look();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.message);
      isOver = error.status === 404;
    } finally {
      if (!isOver && mine === turn) timer = setTimeout(again, Math.max(PAUSE, REST * (performance.now() - began)));
    }
  };
  document.addEventListener("visibilitychange", again);
  again();
  return again;
};

// Do it once, and say what was refused.
export const attempt = async (work) => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(error.message);
  }
};

// The address keeps what was chosen, so that it can be sent.
export const chosenIn = (defaults) => Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, new URLSearchParams(location.search).get(name) ?? value]));
export const keepChosen = (fields) => {
  const kept = new URLSearchParams(Object.entries(fields).filter(([, value]) => value));
  history.replaceState(null, "", kept.size ? `?${kept}` : location.pathname);
};

const begin = () => {
  nameTheme();
  byId("theme").addEventListener("click", turnTheme);
  byId("forget").hidden = !hasKey();
  byId("forget").addEventListener("click", forgetKey);
  byId("key").addEventListener("submit", keepKey);
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
