// One data set: its pictures and questions, page by page, and the plans by which it can be asked.

import { drawDeletion } from "./deletion.js";
import { byId, bytes, cellName, el, facts, fromRoot, here, link, section, some, spaced, table, whole } from "./parts.js";
import { ask, attempt, chosenIn, closer, crumbs, get, keepChosen, pictureName, Refusal, say, show, tell, thumbnail, title, viewer, wordsOf } from "./shell.js";

const name = here[1];
const route = `/v1/datasets/${encodeURIComponent(name)}`;
const PAGE = 24;
const chosen = chosenIn({ image: "", search: "", group: "", after: "", images: "" });

const choose = (changes, work) => {
  Object.assign(chosen, changes);
  keepChosen(chosen);
  attempt(work);
};

const pager = (page, place, onNext, onFirst) => {
  if (!page.has_more && !place) return null;
  return el("div", { class: "pager" },
    place ? el("button", { type: "button", onclick: onFirst }, "First page") : null,
    page.has_more ? el("button", { type: "button", onclick: onNext }, "Next page") : null);
};

// --- pictures -------------------------------------------------------------------------------------------------------

const sizeOf = (image) => (image.error ? image.error : `${whole(image.width)} × ${whole(image.height)} ${image.format}, ${bytes(image.num_bytes)}`);

const picture = (image) => {
  const fullName = pictureName(name, image.name);
  const wish = () => closer({ image: fullName, ...(image.show ? { show: image.show } : {}), title: image.name, back: [location.href, name] });
  const lead = (event) => { event.currentTarget.href = wish(); }; // back to what is chosen by then
  const shown = viewer && !image.error
    ? el("a", { href: wish(), onclick: lead, onauxclick: lead }, el("div", { class: "thumbs" }, thumbnail(fullName, 480, `Look closer at ${image.name}`, "full", image.show)))
    : el("div", { class: "thumbs none" }, image.error ? "cannot be served" : "no viewer is known here");
  return el("li", { "data-image": image.name }, shown, el("div", { class: "words" },
    el("p", {}, image.name),
    el("p", { class: image.error ? "failed" : "soft" }, sizeOf(image)),
    image.error || fullName === image.name ? null : el("p", {}, link(`/ask?${new URLSearchParams({ image: fullName, ...(image.show ? { show: image.show } : {}) })}`, "Ask about it", { "aria-label": `Ask about ${image.name}` })),
    el("p", {}, el("button", { type: "button", "aria-pressed": String(chosen.image === image.name), onclick: () => choose({ image: chosen.image === image.name ? "" : image.name, after: "" }, showSamples) }, some(image.num_samples, "question")))));
};

const showImages = async () => {
  const page = await get(`${route}/images?limit=${PAGE}${chosen.images ? `&after=${encodeURIComponent(chosen.images)}` : ""}`);
  byId("images").replaceChildren(el("ul", { class: "grid" }, page.data.map(picture)),
    pager(page, chosen.images, () => choose({ images: page.last_id }, showImages), () => choose({ images: "" }, showImages)) ?? "");
};

// --- questions ------------------------------------------------------------------------------------------------------

let isSorted = false; // into groups, of which there are several
const question = (sample) => el("li", { "data-sample": sample.id },
  el("p", { class: "soft" }, [sample.id, isSorted && [...new Set(Object.values(sample.groups))].map(spaced).join(", ")].filter(Boolean).join(": ")),
  el("p", { class: "question" }, sample.question),
  sample.options ? el("ul", { class: "options" }, Object.entries(sample.options).map(([letter, words]) =>
    el("li", { class: letter === sample.truth ? "true" : null }, `${letter}: ${words}`, letter === sample.truth ? el("b", {}, " (the truth)") : null))) : null,
  sample.options && sample.truth in sample.options ? null : el("p", {}, "Truth: ", sample.truth || "not known"));

const showSamples = async () => {
  for (const button of document.querySelectorAll("#images button[aria-pressed]")) button.setAttribute("aria-pressed", String(button.closest("[data-image]").dataset.image === chosen.image));
  const wanted = new URLSearchParams(Object.entries({ image: chosen.image, group: chosen.group, search: chosen.search, after: chosen.after }).filter(([, value]) => value));
  const page = await get(`${route}/samples?limit=${PAGE}&${wanted}`);
  byId("about").textContent = chosen.image ? `about ${chosen.image}` : "";
  byId("samples").replaceChildren(
    page.data.length ? el("ul", { class: "rows" }, page.data.map(question)) : el("p", { class: "soft" }, "No question is like this."),
    pager(page, chosen.after, () => choose({ after: page.last_id }, showSamples), () => choose({ after: "" }, showSamples)) ?? "");
};

const filters = (groups) => el("form", { id: "filters", "aria-label": "Filter the questions", onsubmit: (event) => event.preventDefault(), onchange: () => choose({ search: byId("search").value, group: byId("group").value, after: "" }, showSamples) },
  el("label", {}, "Search", el("input", { id: "search", type: "search", value: chosen.search, placeholder: "id or question" })),
  el("label", {}, "Group", el("select", { id: "group" }, el("option", { value: "" }, "all"), groups.map((one) => el("option", { value: one, selected: one === chosen.group }, spaced(one))))),
  el("button", { type: "button", onclick: () => choose({ image: "", after: "" }, showSamples) }, "About all pictures"));

const groupList = (groups) => el("ul", { class: "links soft" }, Object.entries(groups).map(([group, parts]) =>
  el("li", {}, `${spaced(group) || "all"}: ${Object.entries(parts).map(([part, number]) => [spaced(part), number].filter(Boolean).join(" ")).join(", ")}`)));

crumbs(["/datasets", "Data sets"], ["", name]);
title(name);
const look = async () => {
  const known = await get(route);
  title(known.title || name);
  say(`${some(known.num_samples, "question")} about ${some(known.num_images, "picture")}`);
  isSorted = Object.entries(known.groups).some(([, parts], at) => at || Object.keys(parts).length > 1);
  const groups = [...new Set(Object.entries(known.groups).flatMap(([group, parts]) => [group, ...Object.keys(parts)]))].filter(Boolean).sort();
  show(
    el("section", { "aria-label": "The data set" }, el("p", {}, known.description), facts([["Name", name], ["Benchmark", known.benchmark], ["Digest", el("code", {}, known.digest.slice(0, 16))], ["Jobs", link(`/?dataset=${encodeURIComponent(name)}`, "those over it")], ["Review", link(`/datasets/${encodeURIComponent(name)}/review`, "of its questions by people")]]), isSorted ? groupList(known.groups) : null),
    section("Start a job", el("div", { id: "plans" })),
    section("Pictures", el("div", { id: "images" })),
    el("section", { "aria-labelledby": "title-questions" }, el("h2", { id: "title-questions" }, "Questions ", el("span", { id: "about", class: "soft" })), filters(groups), el("div", { id: "samples" })),
    el("div", { id: "deletion" }));
  await Promise.all([showImages(), showSamples(), showPlans(known.benchmark), drawDeletion(name)]);
};
attempt(() => look().catch(async (error) => {
  if (error.status === 422) { // what cannot be read can be deleted
    show(el("div", { id: "deletion" }));
    await drawDeletion(name);
    error.message = wordsOf(error);
  }
  throw error;
}));

const showPlans = async (benchmark) => {
  const [{ data }, { data: models }] = await Promise.all([get(`/v1/plans?benchmark=${encodeURIComponent(benchmark)}`), get("/v1/models")]);
  byId("plans").replaceChildren(jobForm(data, models), el("details", {}, el("summary", {}, "What the plans ask, and how to at a terminal"),
    el("p", { class: "soft" }, "A plan asks every question in each of its cells: how it is asked, and what is shown. V0 is the text alone, V0F the same where an answer is required, V1 a thumbnail, V2 the whole picture, V3 the evidence, V4 the whole picture and the evidence, V5 the pictures without evidence, V6 those with it."),
    table("Plans", [["plan"], ["cells"], ["ask it at a terminal"]], data.map((plan) =>
      [plan.name, plan.cells.map(cellName).join(", "), el("code", {}, `gigavqa submit -d ${name} --plan ${plan.name} -m MODEL`)]))));
};

// --- a job ----------------------------------------------------------------------------------------------------------

// The same click twice is one job.
const submit = async (key) => {
  const spec = { dataset: name, models: [byId("model").value], plan: byId("plan").value };
  const words = byId("named").value.trim();
  if (words) spec.metadata = { title: words };
  const display = byId("display").value.trim();
  if (display) spec.options = { show: display };
  const answer = await ask("/v1/jobs", { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": key }, body: JSON.stringify(spec) });
  location.assign(fromRoot(`/jobs/${encodeURIComponent((await answer.json()).id)}`));
};

const jobForm = (plans, models) => {
  const served = models.filter((one) => one.workers);
  if (!served.length) return el("p", { class: "next" }, "No model is served now, so that a job would wait. At a terminal of a machine with a GPU, ", el("code", {}, "gigavqa up --model MODEL"), " serves one of the ", link("/models", "models"), "; then a job can be started here.");
  const button = el("button", { class: "main" }, "Start the job");
  const key = crypto.getRandomValues(new Uint32Array(4)).join("-");
  let tries = 0;
  return el("form", { id: "job", "aria-label": "A job", onsubmit: (event) => {
    event.preventDefault();
    button.disabled = true;
    tell("started", "The job is being checked");
    submit(`${key}-${tries}`).catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      if (error.status) tries += 1;
      tell("started", wordsOf(error));
      button.disabled = false;
    });
  } },
    el("label", {}, "Plan", el("select", { id: "plan" }, plans.map((plan) => el("option", { value: plan.name }, plan.name)))),
    el("label", {}, "Model", el("select", { id: "model" }, served.map((one) => el("option", { value: one.id }, one.title)))),
    el("label", {}, "Title", el("input", { id: "named", autocomplete: "off", maxlength: 512, placeholder: "data set and plan" })),
    el("label", {}, "Display", el("input", { id: "display", autocomplete: "off", spellcheck: "false", maxlength: 500, placeholder: "as declared", title: "how samples become colours, in place of what the data set declares: bands=4,3,2 stretch=percentile:2:98" })),
    button, el("p", { id: "started", role: "status" }));
};
