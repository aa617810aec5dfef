"use strict";
// What the page was given: samples, their responses, and the texts that their numbers stand for.

const DATA = JSON.parse(document.getElementById("data").textContent);
const OUTCOMES = DATA.outcomes;
const CELLS = DATA.cells.map(([model, protocol, condition, limit], index) => ({ index, model, protocol, condition, limit, rounds: limit ? `n${limit}` : "", title: DATA.titles[model] }));
const SAMPLES = new Map(DATA.samples.map((sample) => [sample.id, sample]));
const AXES = ["model", "protocol", "condition", "rounds"];

const byId = (id) => document.getElementById(id);
const textOf = (number) => DATA.texts[number ?? 0];
const unique = (values) => [...new Set(values)];
const valuesOf = (axis) => unique(CELLS.map((cell) => cell[axis]));
const spaced = (name) => name.replaceAll("_", " ");
const plural = (number, name) => `${number.toLocaleString("en")} ${name}${number === 1 ? "" : "s"}`;

// A part of a chat: what is the same in all responses stands in the page once.
const STEPS = DATA.steps.map(([name, question, truth, tags, boxes]) => ({ name, question, truth, tags: Object.fromEntries(tags), true: boxes }));
const partOf = ([step, status, right, text, read, boxes]) => ({ ...STEPS[step], status: textOf(status), right: Boolean(right), text, read, boxes: boxes ?? [] });

for (const sample of DATA.samples) {
  sample.byCell = new Map();
  for (const response of sample.responses) {
    const { cell } = response;
    response.outcome = Object.keys(OUTCOMES)[response.outcome ?? 0];
    response.status = textOf(response.status);
    response.parts = (response.parts ?? []).map(partOf);
    response.tags ??= {};
    sample.byCell.set(cell, [...(sample.byCell.get(cell) ?? []), response]);
  }
}

// Elements are made one by one, and texts only ever become text nodes: nothing that was read is taken for markup.
const filled = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
};
const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// A response's mark: its shape tells the outcome, a notch that its text was cut off.
// Shapes are copied: thousands of <use> elements would take a browser twice as long.
const MARKS = Object.fromEntries(Object.keys(OUTCOMES).map((outcome) => {
  const shape = byId(`mark-${outcome}`);
  return [outcome, svg("svg", { class: `mark ${outcome}`, viewBox: shape.getAttribute("viewBox"), "aria-hidden": "true" },
    [...shape.children].map((part) => part.cloneNode(true)))];
}));
const isCut = (response) => Boolean(response.cut || response.over);
const mark = (response) => MARKS[response.outcome].cloneNode(true);
const marked = (response) => el("span", { class: `mark${isCut(response) ? " cut" : ""}` }, mark(response));
const cutWords = (response) => [response.cut && "cut off at its limit of tokens", response.over && "outgrew its context", response.empty && "empty, with no token written"].filter(Boolean);
const verdictOf = (response) => [OUTCOMES[response.outcome], ...cutWords(response)].join(", ");
const shownIn = (cell) => [cell.condition, cell.rounds].filter(Boolean).join(" ");
const howOf = (cell) => `${cell.protocol} ${shownIn(cell)}`;
const nameOf = (cell) => `${cell.model} ${howOf(cell)}`;

// The name of a response in addresses: the same in every page that shows it.
const placeOf = (response) => {
  const { model, protocol } = CELLS[response.cell];
  const parts = [model, protocol, shownIn(CELLS[response.cell]), String(response.repeat ?? 0)];
  if (DATA.jobs.length > 1) parts.push(DATA.jobs[response.job ?? 0]);
  return parts.join("|");
};
