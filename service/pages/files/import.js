// A table of questions becomes a data set: dropped, checked, looked at, and then made.

import { byId, el, link, section, some, table, takeDrops, whole } from "./parts.js";
import { ask, attempt, crumbs, lacks, Refusal, say, show } from "./shell.js";

const MOST_FILES = 1500; // pictures of one data set that are sent from a page
let records = null;
let images = [];
let isSending = false;
let lacking = ""; // what the key lacks

const RECORDS = /\.(csv|tsv|json|jsonl|ndjson|parquet)$/i;
let state = 0; // of what is chosen: a check counts for the one that it was made of
const change = () => {
  state += 1;
  byId("make").disabled = true;
};

// A picture is known by its path below the folder that was chosen, as rows call it; two of one path are not guessed between.
const pathOf = (file) => file.webkitRelativePath?.split("/").slice(1).join("/") || file.name;
const placeOf = (file) => file.webkitRelativePath || file.name;
const isHidden = (file) => placeOf(file).split("/").some((part) => part.startsWith("."));
const isSame = (one, other) => placeOf(one) === placeOf(other) && one.size === other.size && one.lastModified === other.lastModified;

const take = (files, folders = [], isFolder = false) => {
  const found = [...files].filter((file) => !isHidden(file));
  const tables = found.filter((file) => RECORDS.test(file.name));
  const wrong = folders.map((name) => `${name} is a folder: choose it by "a folder of pictures"`);
  if (tables.length > 1) wrong.push(`${tables.map(placeOf).join(" and ")} are tables, and one is read at a time: choose one`);
  else if (tables.length && isFolder && records) wrong.push(`${placeOf(tables[0])} of the folder is no picture, and ${records.name} is the table already`);
  else if (tables.length) [records] = tables;
  const known = new Map(images.map((image) => [pathOf(image), image]));
  for (const file of found.filter((one) => !RECORDS.test(one.name))) {
    const other = known.get(pathOf(file));
    if (!other) known.set(pathOf(file), file);
    else if (!isSame(other, file)) wrong.push(`${placeOf(other)}, which is here, and ${placeOf(file)} would both be ${pathOf(file)}: the second is not taken; choose a folder that holds both, or take all pictures away first`);
  }
  images = [...known.values()];
  change();
  drawFiles();
  if (records && !byId("name").value) byId("name").value = records.name.replace(RECORDS, "").replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+/, "");
  byId("found").replaceChildren(wrong.length ? section("What is not taken", el("ul", {}, wrong.slice(0, 20).map((line) => el("li", { class: "failed" }, line)), wrong.length > 20 ? el("li", {}, `and ${some(wrong.length - 20, "other")}`) : null)) : "");
};

const drawFiles = () => {
  byId("files").replaceChildren(
    el("p", {}, records ? `Questions: ${records.name}` : "No file of questions yet.", " ", el("span", { class: "soft" }, images.length ? `${some(images.length, "picture")}: ${images.slice(0, 5).map(pathOf).join(", ")}${images.length > 5 ? " ..." : ""}` : "No picture: then the file must hold them."),
      images.length ? [" ", el("button", { type: "button", onclick: () => { images = []; take([]); } }, "Take all pictures away")] : null));
  drawButtons();
};
const drawButtons = () => { byId("check").disabled = !records || isSending || Boolean(lacking); };

// --- asking the gateway ---------------------------------------------------------------------------------------------

const formOf = (isCheck) => {
  const form = new FormData();
  const { name, title, benchmark, map, decimal, display } = Object.fromEntries(["name", "title", "benchmark", "map", "decimal", "display"].map((id) => [id, byId(id === "title" ? "named" : id).value.trim()]));
  for (const [field, value] of Object.entries({ name, title, benchmark, decimal, show: display })) if (value) form.append(field, value);
  for (const pair of map.split(/[\s,]+/).filter(Boolean)) form.append("map", pair);
  if (byId("leave").checked) form.append("leave_out_bad", "true");
  if (isCheck) form.append("check", "true");
  form.append("records", records, records.name);
  for (const image of images) form.append("image", image, pathOf(image));
  return form;
};

const send = async (isCheck) => {
  if (images.length > MOST_FILES) throw new Refusal(0, `${whole(images.length)} pictures are too many for a page; at a terminal: gigavqa dataset import ${records.name} NAME --images FOLDER`);
  isSending = true;
  drawButtons();
  byId("make").disabled = true;
  say(isCheck ? "the table is being read" : "the data set is being made");
  try {
    return await (await ask("/v1/datasets", { method: "POST", body: formOf(isCheck) })).json();
  } finally {
    isSending = false;
    drawButtons();
  }
};

// --- what it would be -----------------------------------------------------------------------------------------------

const places = ({ file, line, sample, detail }) => [file ? `${file}${line ? `:${line}` : ""}` : "–", sample ?? "–", detail];
const problems = (refusal) => section("What is wrong",
  el("p", { class: "failed" }, refusal.message),
  refusal.findings.length ? table("Problems", [["where", "name"], ["question", "name"], ["what, and what helps"]], refusal.findings.map(places)) : null,
  el("p", { class: "soft" }, "Mend the table, name columns, or leave out what is bad; then check again. Columns and types are described in docs/questions.md."));

const told = (title, lines, kind) => (lines.length ? section(title, el("ul", {}, lines.map((line) => el("li", { class: kind }, line)))) : null);
const options = (sample) => (sample.options ? Object.entries(sample.options).map(([letter, words]) => `${letter}: ${words}`).join("; ") : "–");
const preview = (found) => [
  section("What it is",
    el("p", {}, `${some(found.num_samples, "question")} about ${some(found.num_images, "picture")}, read as ${found.benchmark}: ${Object.entries(found.kinds).map(([kind, number]) => `${whole(number)} ${kind.replaceAll("_", " ")}`).join(", ")}.`),
    table("The first questions", [["question"], ["pictures"], ["options"], ["truth"]], found.samples.map((one) => [one.question, one.images.join(", "), options(one), one.truth || "not known"]))),
  told("Left out", found.left_out, "failed"),
  told("Warnings", found.warnings, "warn"),
  told("Notes", found.notes, "soft"),
].filter(Boolean);

// Do it, and show what comes of it, unless something else has been chosen by then.
const shown = async (isCheck, draw) => {
  const before = state;
  const isMeant = () => {
    if (isCheck && before !== state) say("What is chosen has changed since the check began; check again");
    return !isCheck || before === state;
  };
  try {
    const found = await send(isCheck);
    if (isMeant()) draw(found);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!isMeant()) return;
    say("nothing is made");
    byId("found").replaceChildren(problems(error));
  }
};
const check = () => shown(true, (found) => {
  byId("found").replaceChildren(...preview(found));
  byId("make").disabled = false;
  say("This is what it would be; nothing is made yet");
});
const make = () => shown(false, (found) => {
  byId("found").replaceChildren(el("p", { class: "next" }, "Made: ", link(`/datasets/${encodeURIComponent(found.name)}`, found.name), `, ${some(found.num_samples, "question")} about ${some(found.num_images, "picture")}.`));
  say(`data set ${found.name} is made`);
});

// --- the page -------------------------------------------------------------------------------------------------------

const field = (words, id, attributes = {}) => el("label", {}, words, el("input", { id, autocomplete: "off", spellcheck: "false", oninput: change, ...attributes }));
const picker = (words, attributes) => {
  const input = el("input", { type: "file", multiple: true, ...attributes, onchange: () => {
    take(input.files, [], input.webkitdirectory);
    input.value = ""; // the same ones may be chosen again
  } });
  return el("label", {}, words, input);
};

const drop = () => takeDrops(el("div", { class: "drop" },
  picker("Drop a table of questions and its pictures here, or choose them", { id: "file" }),
  picker("or a folder of pictures", { id: "folder", webkitdirectory: true }),
  el("p", { class: "soft" }, "CSV, TSV, JSON, JSONL or Parquet, with a question a row; pictures by the names that rows call them, or within the rows.")), take);

crumbs(["/datasets", "Data sets"], ["", "New"]);
show(
  section("Table", drop(), el("div", { id: "files" })),
  el("form", { id: "asked", "aria-label": "How it is read", onsubmit: (event) => {
    event.preventDefault();
    attempt(check);
  } },
    field("Name", "name", { required: true, pattern: "[A-Za-z0-9_][A-Za-z0-9._\\-]*", title: "letters, digits, dots, dashes" }),
    field("Title", "named", { placeholder: "as the name" }),
    field("Columns called otherwise", "map", { placeholder: "foto=image label=answer" }),
    field("Read by", "benchmark", { placeholder: "found out" }),
    field("Display of deep samples", "display", { placeholder: "as they are", title: "bands=4,3,2 stretch=percentile:2:98" }),
    el("label", {}, "Decimal sign", el("select", { id: "decimal", onchange: change }, [["", "as the file's"], [".", "a point"], [",", "a comma"]].map(([value, words]) => el("option", { value }, words)))),
    el("label", { class: "tick" }, el("input", { type: "checkbox", id: "leave", onchange: change }), " Leave out bad rows"),
    el("button", { id: "check" }, "Check"),
    el("button", { type: "button", id: "make", class: "main", disabled: true, onclick: () => attempt(make) }, "Make the data set")),
  el("div", { id: "found", "aria-live": "polite" }));
drawFiles();
attempt(async () => {
  lacking = await lacks("operate");
  drawButtons();
  say(lacking || "Drop a table of questions; it is checked before anything is made. Everybody of this installation sees a data set");
});
