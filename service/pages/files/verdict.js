// What a reviewer says of a sample that was answered: keep it, mend it, drop it; and how far a review is.

import { el, NOTHING, share, span, table } from "./parts.js";

export const REASONS = {
  "wrong-truth": "the truth is wrong",
  "several-answers": "more than one answer is right",
  unclear: "it is not clear what is asked, or about what",
  "not-visible": "the picture does not show it",
  guessable: "it is answered without the picture",
  "weak-options": "options that nobody would choose",
  other: "something else, in the note",
};
const DONE = { keep: "kept", mend: "mended", drop: "dropped" };
export const done = (verdict) => DONE[verdict];
export const inWords = (review) => [DONE[review.verdict], REASONS[review.reason], review.note].filter(Boolean).join(": ");

// --- drop -----------------------------------------------------------------------------------------------------------

export const dropForm = (onDrop, onCancel) => {
  const note = el("input", { id: "note", autocomplete: "off", maxlength: 4000 });
  const choose = (reason) => {
    if (reason === "other" && !note.value.trim()) note.focus();
    else onDrop({ reason, ...(note.value.trim() ? { note: note.value.trim() } : {}) });
  };
  const form = el("div", { id: "dropping", role: "group", "aria-label": "Why it is dropped" },
    el("label", {}, "Note", note),
    el("div", { class: "answers" }, Object.entries(REASONS).map(([reason, words], number) => el("button", { type: "button", "data-key": number + 1, onclick: () => choose(reason) }, el("kbd", {}, String(number + 1)), ` ${words}`))),
    el("button", { type: "button", onclick: onCancel }, "Do not drop it"));
  return form;
};

// --- mend -----------------------------------------------------------------------------------------------------------

const boxOf = (text) => {
  const numbers = text.split(/[\s,;]+/).filter(Boolean).map(Number);
  return numbers.length === 4 && numbers.every(Number.isFinite) ? numbers : null;
};

// What is changed alone is sent. `zoom` draws the boxes, and takes those that are drawn.
export const mendForm = (sample, zoom, { onMend, onCancel, say }) => {
  const old = sample.evidence.map(({ box }) => box);
  const hasBoxes = sample.images.length === 1 && sample.images[0].width;
  const question = el("textarea", { id: "mended-question", rows: 3, maxlength: 4000 }, sample.question);
  const options = Object.entries(sample.options ?? {}).map(([letter, words]) => [letter, el("input", { value: words, "aria-label": `Option ${letter}`, maxlength: 4000 })]);
  const isSeveral = sample.kind.includes("several");
  const answers = !isSeveral && sample.options ? Object.keys(sample.options) : sample.possible;
  const answer = answers.length
    ? el("select", { id: "mended-answer" }, [...(answers.includes(sample.truth) ? [] : [""]), ...answers].map((one) => el("option", { value: one, selected: one === sample.truth }, one || "not known")))
    : el("input", { id: "mended-answer", value: sample.truth, autocomplete: "off", maxlength: 4000 });
  const list = el("ul", { id: "boxes", class: "fields" });
  const inputs = () => [...list.querySelectorAll("input")];
  const redraw = (chosen) => zoom.draw(inputs().map((input) => boxOf(input.value)).filter(Boolean), chosen);
  const add = (box) => {
    const number = list.children.length + 1;
    const input = el("input", { value: box.join(", "), inputmode: "numeric", "aria-label": `Box ${number}: left, top, right, bottom`, oninput: () => redraw(), onfocus: () => redraw(inputs().indexOf(input)) });
    const row = el("li", {}, input, el("button", { type: "button", "aria-label": `Remove box ${number}`, onclick: () => {
      row.remove();
      redraw();
    } }, "Remove"));
    list.append(row);
    redraw();
  };
  for (const box of old) add(box);
  const draws = el("button", { type: "button", "aria-pressed": "false", onclick: () => setDrawing(draws.getAttribute("aria-pressed") !== "true") }, "Draw a box");
  const setDrawing = (isOn) => {
    draws.setAttribute("aria-pressed", String(isOn));
    zoom.drawing(isOn);
  };
  const changes = () => {
    const boxes = inputs().map((input) => boxOf(input.value));
    const texts = Object.fromEntries(options.map(([letter, input]) => [letter, input.value.trim()]));
    const found = {};
    if (question.value.trim() !== sample.question) found.question = question.value.trim();
    if (options.some(([letter]) => texts[letter] !== sample.options[letter])) found.options = texts;
    if (answer.value.trim() !== sample.truth) found.answer = answer.value.trim();
    if (JSON.stringify(boxes) !== JSON.stringify(old)) found.boxes = boxes;
    return found;
  };
  const form = el("form", { id: "mending", "aria-label": "Mend it", onsubmit: (event) => {
    event.preventDefault();
    const fields = changes();
    if (fields.boxes?.includes(null)) say("A box is four numbers: left, top, right and bottom in pixels.");
    else if (!Object.keys(fields).length) say("Nothing is mended yet: to leave all as it is is to keep it.");
    else onMend({ fields });
  } },
    el("label", { class: "whole" }, "Question", question),
    options.map(([letter, input]) => el("label", { class: "whole" }, `Option ${letter}`, input)),
    el("label", { class: "whole" }, "Answer", answer),
    hasBoxes ? el("div", { class: "whole" }, el("p", { class: "soft" }, "Boxes of the evidence: left, top, right, bottom in pixels"), list, draws) : null,
    el("button", { class: "main" }, "Mend it"),
    el("button", { type: "button", onclick: onCancel }, "Leave it"));
  return { form, stop: () => setDrawing(false), drawn: (box) => {
    setDrawing(false);
    add(box);
  } };
};

// --- how far it is --------------------------------------------------------------------------------------------------

const estimate = ({ value, low, high, count }) => (value === null ? NOTHING : `${share(value)}${low === null ? "" : ` [${Math.round(100 * low)}, ${Math.round(100 * high)}]`} of ${count}`);
const kappa = ({ value, low, high }) => (value === null ? NOTHING : `${value.toFixed(2)}${low === null ? "" : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`}`);

export const tables = ({ states, reviewers, agreement }) => [
  el("p", {}, Object.entries(states).map(([state, number]) => `${number} ${{ unreviewed: "not reviewed", conflict: "in conflict" }[state] ?? DONE[state]}`).join(", ")),
  reviewers.length ? table("Reviewers", [["reviewer"], ["kept", "number"], ["mended", "number"], ["dropped", "number"], ["changed since", "number"], ["right when blind"], ["time", "number"]],
    reviewers.map((one) => [one.reviewer, String(one.keep), String(one.mend), String(one.drop), String(one.outdated), estimate(one.accuracy), span(one.seconds)])) : null,
  agreement.length ? table("Agreement", [["reviewers"], ["same verdict"], ["kappa"], ["same answer"]],
    agreement.map((one) => [one.reviewers.join(", "), estimate(one.verdicts), kappa(one.kappa), estimate(one.answers)])) : el("p", { class: "soft" }, "No two reviewers have seen the same sample yet."),
];
