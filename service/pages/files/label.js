// A job's responses are labelled: one a screen, by what its benchmark's reports read.

import { el, fromRoot, here, link, spaced } from "./parts.js";
import { ask, attempt, chosenIn, crumbs, get, keepChosen, say, show, title, viewer, withKey } from "./shell.js";
import { deepZoom } from "./zoom.js";

const id = here[1];
const route = `/v1/jobs/${encodeURIComponent(id)}`;
const MOST = 2000; // responses that a visit looks at
const FILTERS = { wrong: "wrong ones", unlabelled: "wrong ones without a label", all: "all" };
const chosen = chosenIn({ show: "wrong", request: "" });

let kinds = [];
let labels = [];
let replies = [];
let listed = [];
let at = 0;
let dataset = "";
let zoom = null;
const evidence = new Map(); // of samples, which several replies are to

// The first lines of the verdicts; what is behind them is not waited for.
const readReplies = async () => {
  const stop = new AbortController();
  const answer = await fetch(fromRoot(`${route}/verdicts?format=jsonl&texts=true`), { headers: withKey(), signal: stop.signal });
  if (!answer.ok) await ask(`${route}/verdicts?format=jsonl&texts=true`); // which says why
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const found = [];
  let rest = "";
  for (let read = await reader.read(); !read.done && found.length < MOST; read = await reader.read()) {
    const lines = (rest + read.value).split("\n");
    rest = lines.pop();
    found.push(...lines.filter(Boolean).map((line) => JSON.parse(line)));
  }
  stop.abort();
  return found.slice(0, MOST);
};

const matches = (label, reply) => (!label.request || label.request === reply.request_id) && (!label.sample || label.sample === reply.sample_id) && (!label.model || label.model === reply.model);
const saidOf = (kind, reply) => labels.find((label) => label.kind === kind.name && matches(label, reply))?.choice ?? null;
const isWrong = (reply) => reply.outcome !== "right" && !reply.failure;
const choose = () => {
  listed = replies.filter((reply) => chosen.show === "all" || (isWrong(reply) && (chosen.show === "wrong" || kinds.some((kind) => saidOf(kind, reply) === null))));
  at = Math.max(0, listed.findIndex((reply) => reply.request_id === chosen.request));
};

const label = (kind, choice) => attempt(async () => {
  const reply = listed[at];
  const again = saidOf(kind, reply) === choice ? null : choice; // once more takes it back
  labels = (await (await ask(`${route}/labels`, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind: kind.name, request: reply.request_id, choice: again }) })).json()).data;
  await draw();
  say(again === null ? "The label is taken back." : `Labelled: ${kind.choices[choice]}`);
});
const step = (by) => attempt(async () => {
  if (!listed.length) return;
  at = (at + by + listed.length) % listed.length;
  await draw();
  say("");
});

const pictureOf = async (reply) => {
  if (!evidence.has(reply.sample_id)) evidence.set(reply.sample_id, await get(`/v1/datasets/${encodeURIComponent(dataset)}/reviews/samples/${encodeURIComponent(reply.sample_id)}`));
  const known = evidence.get(reply.sample_id);
  const image = known.images[0];
  if (!viewer || !image?.width) return el("p", { class: "next" }, image?.error ?? (viewer ? "It has no picture." : "No viewer is known here, so that no picture is seen."));
  zoom ??= deepZoom(dataset, () => {});
  zoom.open(image);
  zoom.draw(known.evidence.filter((box) => box.image === 0).map(({ box }) => box));
  return zoom.place;
};

let number = 0; // of the keys
const choices = (kind, reply) => {
  const said = saidOf(kind, reply);
  return el("fieldset", { "data-kind": kind.name, class: "answers" }, el("legend", {}, kind.title), Object.entries(kind.choices).map(([name, words]) => {
    number += 1;
    return el("button", { type: "button", "data-key": number, "aria-pressed": String(said === name), onclick: () => label(kind, name) }, number < 10 ? el("kbd", {}, String(number)) : null, ` ${words}`);
  }));
};
const bar = () => el("div", { id: "bar" }, el("div", { class: "actions" },
  el("label", {}, "Show", el("select", { id: "shown", onchange: (event) => {
    chosen.show = event.target.value;
    choose();
    attempt(draw);
  } }, Object.entries(FILTERS).map(([value, words]) => el("option", { value, selected: value === chosen.show }, words)))),
  el("button", { type: "button", id: "previous", "aria-label": "Previous", onclick: () => step(-1) }, "←"), el("button", { type: "button", id: "next", "aria-label": "Next", onclick: () => step(1) }, "→")),
  el("p", { class: "soft" }, listed.length ? `${at + 1} of ${listed.length}` : "None is like this.", replies.length === MOST ? `, of the first ${MOST} responses` : ""));

const draw = async () => {
  const reply = listed[at];
  if (!reply) {
    show(bar());
    return;
  }
  chosen.request = reply.request_id;
  keepChosen(chosen);
  const picture = await pictureOf(reply);
  number = 0;
  show(bar(), el("div", { class: "two" }, el("section", { id: "stage", "aria-label": "Picture" }, picture), el("section", { id: "asked", "aria-label": "Response" },
    el("p", { class: "soft" }, `${reply.sample_id}: ${reply.model}, ${reply.protocol} ${reply.condition}, ${spaced(reply.outcome ?? "failed")}`),
    el("p", { class: "question" }, reply.question),
    reply.options ? el("ul", { class: "options one" }, Object.entries(reply.options).map(([letter, words]) => el("li", {}, `${letter}: ${words}`))) : null,
    el("p", {}, "Truth: ", el("b", {}, reply.truth || "not known"), `, read: ${reply.value ?? "nothing"}`),
    el("div", { id: "reply", class: "answer", tabindex: 0, role: "region", "aria-label": "What the model wrote" }, reply.text ?? "nothing"),
    kinds.map((kind) => choices(kind, reply)))));
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, .pane")) return;
  const act = { ArrowLeft: () => step(-1), ArrowRight: () => step(1) }[event.key] ?? (/^[1-9]$/.test(event.key) && (() => document.querySelector(`[data-key="${event.key}"]`)?.click()));
  if (!act) return;
  event.preventDefault();
  act();
});

crumbs(["/", "Jobs"], [`/jobs/${encodeURIComponent(id)}`, id], ["", "Label"]);
title(`Labels of ${id}`);
attempt(async () => {
  const [job, known] = await Promise.all([get(route), get(`${route}/labels`)]);
  dataset = job.spec.dataset;
  ({ kinds, data: labels } = known);
  if (!kinds.length) {
    say("");
    show(el("p", { class: "next" }, "Its benchmark reads no labels of responses. Samples are reviewed ", link(`/datasets/${encodeURIComponent(dataset)}/review`, "on the page of their data set"), "."));
    return;
  }
  replies = await readReplies();
  choose();
  await draw();
  say("");
});
