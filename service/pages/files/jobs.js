// The jobs, live: newest first, chosen by status, data set and model.

import { ago, byId, el, fromRoot, hasEnded, jobTitle, link, progress, reportAddress, some, status, whole } from "./parts.js";
import { chosenIn, get, keepChosen, repeat, say, show } from "./shell.js";

const STATUSES = ["validating", "in_progress", "finalizing", "completed", "failed", "cancelling", "cancelled"];
const FILTERS = { status: "Status", dataset: "Data set", model: "Model" };
const known = { status: new Set(STATUSES), dataset: new Set(), model: new Set() };

const before = chosenIn({ status: "", dataset: "", model: "" });
const chosen = () => Object.fromEntries(Object.keys(FILTERS).map((name) => [name, byId(name).value]));

const drawOptions = (name, value) => byId(name).replaceChildren(
  el("option", { value: "" }, "all"),
  ...[...known[name]].map((one) => el("option", { value: one, selected: one === value }, one.replaceAll("_", name === "status" ? " " : "_"))));

const learn = (jobs) => {
  for (const [name, found] of [["dataset", jobs.map((job) => job.spec.dataset)], ["model", jobs.flatMap((job) => job.spec.models)]]) {
    const before = known[name].size;
    for (const one of found) known[name].add(one);
    if (known[name].size > before && document.activeElement !== byId(name)) drawOptions(name, byId(name).value);
  }
};

// --- several jobs in one report -------------------------------------------------------------------------------------

const picked = new Set();
const drawPicked = () => {
  byId("compare").hidden = !picked.size;
  byId("together").textContent = picked.size === 1 ? "One job is picked; pick others of its data set" : `Compare ${picked.size} jobs`;
  if (picked.size > 1) byId("together").href = fromRoot(`/reports?${new URLSearchParams([...picked].map((id) => ["job", id]))}`);
  else byId("together").removeAttribute("href");
};
const pick = (job) => {
  const box = el("input", { type: "checkbox", class: "pick", "data-pick": job.id, "aria-label": `Compare ${jobTitle(job.spec)}, ${job.id}`, onchange: () => {
    if (box.checked) picked.add(job.id);
    else picked.delete(job.id);
    drawPicked();
  } });
  box.checked = picked.has(job.id);
  box.disabled = !job.request_counts.completed;
  return box;
};

const row = (job) => {
  const { total, completed, failed } = job.request_counts;
  const page = `/jobs/${encodeURIComponent(job.id)}`;
  return el("li", { "data-job": job.id },
    el("div", { class: "line" },
      el("span", {}, pick(job), link(page, jobTitle(job.spec), { "data-job": job.id })),
      el("span", { class: "soft" }, job.spec.models.join(", ")),
      el("span", { class: "soft" }, `${whole(completed + failed)} of ${whole(total)}`, failed ? el("span", { class: "failed" }, `, ${whole(failed)} failed`) : null),
      status(job.status)),
    progress(job.request_counts),
    el("div", { class: "line soft" }, el("span", {}, job.id), el("span", {}, ago(job.created_at)),
      el("span", {}, completed ? link(reportAddress(job.id), "report") : null), el("span", {})));
};

const next = () => el("div", { class: "next" }, "What to do first, here:", el("ul", {},
  el("li", {}, link("/ask", "Ask"), " a served model about a picture of yours"),
  el("li", {}, link("/import", "New data set"), " makes one of a table of questions and its pictures; its page starts a job over it")), "Or at a terminal of this machine:", el("ul", {},
  el("li", {}, el("code", {}, "gigavqa demo"), " draws pictures, asks a small model about them, and shows the report"),
  el("li", {}, el("code", {}, "gigavqa ask PICTURES QUESTIONS.csv -m MODEL"), " asks your own questions about your own pictures"),
  el("li", {}, el("code", {}, "gigavqa submit -d DATASET -m MODEL"), " asks one of the ", link("/datasets", "data sets"), " by one of the ", link("/models", "models"))));

const draw = ({ data, has_more: more }) => {
  const { job: focused, pick: chosenBox } = document.activeElement?.dataset ?? {};
  byId("jobs").replaceChildren(...data.map(row));
  if (chosenBox) byId("jobs").querySelector(`[data-pick="${CSS.escape(chosenBox)}"]`)?.focus();
  if (focused) byId("jobs").querySelector(`a[data-job="${CSS.escape(focused)}"]`)?.focus();
  const isFiltered = Object.values(chosen()).some(Boolean);
  byId("next").hidden = data.length > 0 || isFiltered;
  const running = data.filter((job) => !hasEnded(job)).length;
  say(data.length ? `${more ? "the newest " : ""}${some(data.length, "job")}${more ? ", of more" : ""}; ${running} not ended` : isFiltered ? "no job is like this" : "no job yet");
};

let shown = "";
const look = async () => {
  const wanted = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value));
  const text = JSON.stringify(await get(`/v1/jobs?limit=50&${wanted}`));
  const state = `${Math.floor(Date.now() / 30000)} ${wanted} ${text}`; // ages are told anew now and then
  if (state === shown) return;
  shown = state;
  const page = JSON.parse(text);
  learn(page.data);
  draw(page);
};

show(
  el("form", { id: "choice", "aria-label": "Filter the jobs", onsubmit: (event) => event.preventDefault() },
    Object.entries(FILTERS).map(([name, words]) => el("label", {}, words, el("select", { id: name })))),
  el("p", { id: "compare", hidden: true }, el("a", { id: "together", class: "button" }), " ", el("button", { type: "button", onclick: () => {
    picked.clear();
    for (const box of document.querySelectorAll(".pick")) box.checked = false;
    drawPicked();
  } }, "Pick none")),
  el("ul", { id: "jobs", class: "rows", "aria-label": "Jobs, newest first" }),
  Object.assign(next(), { id: "next", hidden: true }));
for (const name of Object.keys(FILTERS)) {
  if (before[name]) known[name].add(before[name]);
  drawOptions(name, before[name]);
}
const again = repeat(look);
byId("choice").addEventListener("change", () => {
  keepChosen(chosen());
  again();
});
