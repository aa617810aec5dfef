// Questions that somebody keeps as samples: in this tab, until they are made a data set.

import { byId, el, link, section, some } from "./parts.js";
import { bringUpload } from "./picture.js";
import { ask, Refusal, say, tell, wordsOf } from "./shell.js";

const PLACE = "gigavqa.kept";
const all = () => JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
const put = (samples) => {
  sessionStorage.setItem(PLACE, JSON.stringify(samples));
  drawKept();
};

// The same question about the same region of the same picture, shown alike, is kept once, by what was said of it last.
const keep = (sample) => {
  const samples = all();
  const at = samples.findIndex((one) => ["question", "region", "show", "upload", "name"].every((field) => one[field] === sample[field]));
  if (at < 0) put([...samples, sample]);
  else put(samples.with(at, { ...samples[at], ...Object.fromEntries(Object.entries(sample).filter(([, value]) => value)) }));
  return at < 0;
};

// --- what is known of a question ------------------------------------------------------------------------------------

const TYPES = { "": "found by the answer", choice: "choice", yes_no: "yes or no", number: "number", text: "text", open: "open" };

// `change` is told what changes; `of` says whose fields they are where there are several.
const fields = (sample, change, of = "") => {
  const field = (words, name, hint) => {
    const input = el("input", { autocomplete: "off", placeholder: hint, "aria-label": `${words}${of}`, oninput: () => change({ [name]: input.value.trim() }) });
    input.value = sample[name] ?? "";
    return el("label", {}, words, input);
  };
  const options = field("Options", "options", "red | blue | green");
  const type = el("select", { "aria-label": `Type${of}`, onchange: () => {
    change({ type: type.value });
    options.hidden = type.value !== "choice";
  } }, Object.entries(TYPES).map(([value, words]) => el("option", { value, selected: value === sample.type }, words)));
  options.hidden = type.value !== "choice";
  return [field("True answer", "answer", "if it is known"), el("label", {}, "Type", type), options];
};

export const keepForm = ({ picture, region, show, question }) => {
  const sample = { question, region, show, upload: picture.dataset ? "" : picture.id, name: picture.name };
  const form = el("form", { onsubmit: (event) => {
    event.preventDefault();
    const isNew = keep(sample);
    form.replaceWith(el("p", { class: "soft" }, "Kept below."));
    say(isNew ? `${some(all().length, "question")} kept` : "It was kept before, and is kept once, as it is said now");
    byId("question").focus();
  } }, fields(sample, (changes) => Object.assign(sample, changes)), el("button", {}, "Keep as a sample"));
  return form;
};

// --- as records -----------------------------------------------------------------------------------------------------

// Two files that were sent may be called alike.
const imageName = (sample, samples) => (samples.some((other) => other.name === sample.name && other.upload !== sample.upload) && sample.upload ? `${sample.upload}-${sample.name}` : sample.name);
const optionsOf = ({ type, options = "" }) => (type === "choice" ? options.split("|").map((one) => one.trim()).filter(Boolean) : []);
const record = (sample, number, samples) => {
  const { question, type, answer, show, region: regions } = sample;
  const told = { id: `q${number + 1}`, image: imageName(sample, samples), question, type, options: optionsOf(sample), answer, regions, show };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value?.length));
};
const lines = (samples) => new Blob(samples.map((...each) => `${JSON.stringify(record(...each))}\n`), { type: "application/x-ndjson" });

const make = async (name, title) => {
  const samples = all();
  const form = new FormData();
  for (const [field, value] of Object.entries({ name, title, benchmark: "questions" })) form.append(field, value);
  for (const picture of new Set(samples.filter((one) => !one.upload).map((one) => one.name))) form.append("picture", picture);
  const uploads = new Map(samples.filter((one) => one.upload).map((one) => [one.upload, imageName(one, samples)]));
  for (const [id, image] of uploads) form.append("image", await bringUpload(id), image);
  form.append("records", lines(samples), `${name}.jsonl`);
  const found = await (await ask("/v1/datasets", { method: "POST", body: form })).json();
  put([]);
  byId("made").replaceChildren("Made: ", link(`/datasets/${encodeURIComponent(name)}`, title || name), el("ul", {}, [...found.warnings, ...found.notes].map((line) => el("li", { class: "soft" }, line))));
  say(`data set ${name} is made`);
};

const download = () => {
  const address = URL.createObjectURL(lines(all()));
  el("a", { href: address, download: "kept.jsonl" }).click();
  URL.revokeObjectURL(address);
};

// --- as they are seen -----------------------------------------------------------------------------------------------

const row = (sample, number) => el("li", {},
  el("p", { class: "question" }, sample.question),
  el("p", { class: "soft" }, `q${number + 1}: ${sample.name}${sample.region ? `, region ${sample.region}` : ""}${sample.show ? `, ${sample.show}` : ""}`),
  // It can be mended: a truth may be one that no data set is made with.
  el("p", { class: "actions" }, fields(sample, (changes) => {
    sessionStorage.setItem(PLACE, JSON.stringify(all().map((one, at) => (at === number ? { ...one, ...changes } : one))));
  }, ` of question ${number + 1}`)),
  el("button", { type: "button", "aria-label": `Drop question ${number + 1}`, onclick: () => {
    put(all().filter((_, at) => at !== number));
    (byId("samples").querySelectorAll("li button")[number] ?? byId("samples").querySelector("li:last-child button") ?? byId("question")).focus();
  } }, "Drop"));

const maker = () => el("form", { id: "make", onsubmit: (event) => {
  event.preventDefault();
  const button = byId("make").querySelector("button");
  button.disabled = true;
  tell("made", "The data set is being made");
  make(byId("name").value.trim(), byId("named").value.trim()).catch((error) => {
    if (!(error instanceof Refusal)) throw error;
    tell("made", `Nothing is made. ${wordsOf(error)}`);
  }).finally(() => { button.disabled = false; });
} },
  el("label", {}, "Name of the data set", el("input", { id: "name", required: true, pattern: "[A-Za-z0-9_][A-Za-z0-9._\\-]*", autocomplete: "off", title: "letters, digits, dots, dashes" })),
  el("label", {}, "Title", el("input", { id: "named", autocomplete: "off", placeholder: "as the name" })),
  el("button", { class: "main" }, "Make a data set"),
  el("button", { type: "button", onclick: download }, "Download as JSONL"));

export const drawKept = () => {
  const samples = all();
  if (!byId("made")) byId("kept").append(el("div", { id: "samples" }), el("div", { id: "made", role: "status" }));
  byId("samples").replaceChildren(...(samples.length ? [section("Kept questions",
    el("p", { class: "soft" }, "They are in this tab alone until they are a data set, which everybody of this installation sees. What is downloaded is for ", el("code", {}, "gigavqa dataset import kept.jsonl NAME --images FOLDER"), "."),
    el("ol", { class: "rows" }, samples.map(row)), maker())] : []));
};
