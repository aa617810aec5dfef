// The models of the catalogue: by paper, family and size, which are served now, and what holds them.

import { byId, el, link, short, some, table, whole } from "./parts.js";
import { chosenIn, get, keepChosen, repeat, say, show } from "./shell.js";

const SIZES = { small: ["up to 10 billion", 0, 10], middle: ["10 to 40 billion", 10, 40], large: ["above 40 billion", 40, Infinity], unknown: ["not told", null, null] };
const chosen = chosenIn({ search: "", paper: "", family: "", size: "", served: "" });

const hasSize = (model) => {
  const [, least, most] = SIZES[chosen.size];
  return least === null ? model.billions === null : model.billions !== null && model.billions > least && model.billions <= most;
};
const fits = (model) =>
  (!chosen.search || [model.id, model.title, model.weights, ...model.aliases].some((text) => text.toLowerCase().includes(chosen.search.toLowerCase())))
  && (!chosen.paper || model.papers.includes(chosen.paper))
  && (!chosen.family || model.family === chosen.family)
  && (!SIZES[chosen.size] || hasSize(model))
  && (!chosen.served || (chosen.served === "yes") === model.workers > 0);

const served = (model) => {
  if (model.loaded) return el("span", { class: "completed" }, model.workers > model.loaded ? `loaded by ${model.loaded} of ${some(model.workers, "worker")}` : `by ${some(model.workers, "worker")}`);
  if (model.workers) return model.starting.length ? `starts: ${model.starting[0].name}` : `by ${some(model.workers, "worker")}, not loaded`;
  return el("span", { class: "soft" }, "no");
};
const gpus = (model) => {
  if (!model.gpus) return model.weights.startsWith("remote:") ? "elsewhere" : "–";
  return `${model.gpus.number > 1 ? `${model.gpus.number} × ` : ""}${model.gpus.memory_gib} GiB`;
};

const row = (model) => [
  el("span", { id: model.id }, model.title, el("br"), el("code", {}, model.id), model.random_weights ? el("span", { class: "warn" }, " random weights: answers mean nothing") : null),
  served(model),
  model.family,
  model.billions === null ? "–" : `${short(model.billions)} billion`,
  gpus(model),
  whole(model.max_model_len),
  model.effective_resolution ? `${whole(model.effective_resolution)} px` : "texts alone",
  model.papers.join(", ") || "–",
  link(`/?model=${encodeURIComponent(model.id)}`, model.queue.waiting ? `${whole(model.queue.waiting)} bundles wait` : "jobs"),
];

let models = [];
const draw = () => {
  const found = models.filter(fits).sort((one, other) => (other.workers > 0) - (one.workers > 0));
  const number = models.filter((model) => model.workers).length;
  say(`${whole(found.length)} of ${some(models.length, "model")}; ${number ? `${whole(number)} served` : "none is served"}`);
  byId("models").replaceChildren(table("Models", [["model"], ["served"], ["family", "name"], ["size", "number"], ["fits a GPU of", "number"], ["context", "number"], ["sees sharp up to", "number"], ["asked by the paper of"], ["work"]], found.map(row)));
};

const choice = (name, words, options) => el("label", {}, words, el("select", { id: name }, el("option", { value: "" }, "all"), options.map(([value, told]) => el("option", { value, selected: chosen[name] === value }, told))));
const drawFilters = () => {
  const of = (values) => [...new Set(values)].sort().map((value) => [value, value]);
  byId("filters").replaceChildren(
    el("label", {}, "Search", el("input", { id: "search", type: "search", value: chosen.search, placeholder: "name or weights" })),
    choice("paper", "Asked by the paper of", of(models.flatMap((model) => model.papers))),
    choice("family", "Family", of(models.map((model) => model.family))),
    choice("size", "Size", Object.entries(SIZES).map(([value, [words]]) => [value, words])),
    choice("served", "Served", [["yes", "now"], ["no", "not now"]]));
};

let shown = "";
const look = async () => {
  const text = JSON.stringify((await get("/v1/models")).data);
  if (text === shown) return;
  const isFirst = !shown;
  shown = text;
  models = JSON.parse(text);
  if (isFirst) drawFilters();
  draw();
  if (isFirst && location.hash) byId(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ block: "center" });
};

show(
  el("form", { id: "filters", "aria-label": "Filter the models", onsubmit: (event) => event.preventDefault(), oninput: () => {
    for (const name of Object.keys(chosen)) chosen[name] = byId(name).value;
    keepChosen(chosen);
    draw();
  } }),
  el("div", { id: "models" }),
  el("p", { class: "soft" }, "To serve one: ", el("code", {}, "gigavqa up --model MODEL"), ". What fits other GPUs: ", el("code", {}, "gigavqa models --fits h100"), "."));
repeat(look);
