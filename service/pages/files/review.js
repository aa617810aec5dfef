// A data set is reviewed: one sample a screen, answered blind, then told, then kept, mended or dropped.

import { el, here, spaced } from "./parts.js";
import { ask, attempt, chosenIn, crumbs, get, keepChosen, Refusal, say, show, title, viewer, wordsOf } from "./shell.js";
import { done, dropForm, inWords, mendForm, tables } from "./verdict.js";
import { deepZoom } from "./zoom.js";

const name = here[1];
const route = `/v1/datasets/${encodeURIComponent(name)}/reviews`;
const FILTERS = { unreviewed: "not reviewed by you", all: "all", conflict: "conflicts", drop: "dropped", mend: "mended", keep: "kept" };
const chosen = chosenIn({ state: "unreviewed", sample: "" });
const KEYS = [["1 to 9, A to I", "answer; reasons to drop"], ["0", "it cannot be told"], ["K, M, D", "keep, mend, drop"], ["U", "undo"], ["← →", "previous, next"], ["E", "show or hide the evidence"], ["P", "next picture"], ["+ −", "zoom"], ["Esc", "leave a form"], ["?", "these keys"]];

// --- one sample -----------------------------------------------------------------------------------------------------

let sample = null; // as it is blind, or told once it is answered
let given = null; // {answer, seconds}
let desk = null; // reviewer, samples, reviewed, may_settle
let since = 0;
let mode = ""; // "drop" or "mend" while its form is open
let mending = null;
let shownImage = 0;
let hasBoxes = true;
const past = []; // verdicts of this visit: {sample, id}

const zoom = deepZoom(name, (box) => mending?.drawn(box));
const isTold = () => "truth" in (sample ?? {});

// A blind answer outlives a reload, and no more than that.
const KEPT = `gigavqa.review.${name}`;
const keepAnswer = () => sessionStorage.setItem(KEPT, JSON.stringify({ sample: sample.id, digest: sample.digest, ...given }));
const keptAnswer = () => {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  return kept.sample === sample.id && kept.digest === sample.digest ? { answer: kept.answer, seconds: kept.seconds } : null;
};

const tellTruth = async () => {
  sample = await get(`${route}/samples/${encodeURIComponent(sample.id)}`);
  draw();
  const first = sample.evidence.findIndex(({ image }) => image === shownImage);
  if (first < 0 && sample.evidence.length) openImage(sample.evidence[0].image);
};
const answer = (words) => attempt(async () => {
  given = { answer: words, seconds: Math.round((performance.now() - since) / 100) / 10 };
  keepAnswer();
  await tellTruth();
  document.getElementById("keep").focus();
});

const look = async (wanted) => {
  const page = await get(`${route}/samples?${new URLSearchParams(wanted)}`);
  desk = page;
  return page.data[0] ?? null;
};
const open = async (found) => {
  sample = found;
  mode = "";
  mending?.stop();
  mending = null;
  shownImage = 0;
  chosen.sample = sample.id;
  keepChosen(chosen);
  given = sample.mine ? { answer: sample.mine.answer ?? null, seconds: sample.mine.seconds ?? null } : keptAnswer();
  since = performance.now();
  if (given) await tellTruth();
  else draw();
  const stage = document.getElementById("stage");
  if (stage.getBoundingClientRect().top < 0) stage.scrollIntoView(); // a phone stands at the verdicts of the last one
};
const finish = async () => {
  sample = null;
  chosen.sample = "";
  keepChosen(chosen);
  draw();
  await showTables(true);
};
// The next one behind this; of a list that is worked off, else the first that is left.
const WORKED_OFF = ["unreviewed", "conflict"];
const forward = async () => {
  const isList = !sample || WORKED_OFF.includes(chosen.state);
  const found = (sample && await look({ state: chosen.state, after: sample.id })) || await look(isList ? { state: chosen.state } : { sample: sample.id });
  if (found) await open(found);
  else await finish();
};
const step = (direction) => attempt(async () => {
  if (!sample) return;
  const found = await look({ state: "all", [direction]: sample.id });
  if (found) await open(found);
  else say(direction === "after" ? "This is the last one." : "This is the first one.");
});

// --- verdicts -------------------------------------------------------------------------------------------------------

const makeId = () => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16).padStart(8, "0")).join("");
const ids = new Map(); // so that what is sent again, as its answer was lost, is written once
const post = async (entry) => {
  const content = JSON.stringify(entry);
  if (!ids.has(content)) ids.set(content, makeId());
  try {
    const answered = await (await ask(route, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ id: ids.get(content), ...entry }) })).json();
    ids.delete(content);
    return answered;
  } catch (error) {
    if (error instanceof Refusal) error.message = wordsOf(error);
    throw error;
  }
};
const judge = (verdict, more = {}) => attempt(async () => {
  const told = { answer: given.answer, seconds: given.seconds };
  const settles = chosen.state === "conflict" && desk.may_settle ? { settles: true } : {};
  const written = await post({ sample: sample.id, digest: sample.digest, verdict, ...told, ...more, ...settles });
  past.push({ sample: sample.id, digest: sample.digest, id: written.id });
  sessionStorage.removeItem(KEPT);
  const words = `${sample.id} is ${done(verdict)}.`;
  await forward();
  say(words);
});
const undo = () => attempt(async () => {
  const last = past.pop() ?? (sample?.mine && { sample: sample.id, digest: sample.digest, id: sample.mine.id });
  if (!last) {
    say("There is nothing to undo here.");
    return;
  }
  const again = await look({ sample: last.sample });
  const before = again.mine;
  await post({ sample: last.sample, digest: last.digest, verdict: "undo", undoes: last.id });
  sample = await look({ sample: last.sample });
  given = before && { answer: before.answer ?? null, seconds: before.seconds ?? null };
  if (given && !sample.mine) keepAnswer();
  await open(sample);
  say(`The verdict on ${last.sample} is undone.`);
});
const setMode = (wanted) => {
  mending?.stop();
  mending = null;
  mode = wanted;
  draw();
  document.querySelector("#dropping button, #mending textarea")?.focus();
};

// --- what is shown --------------------------------------------------------------------------------------------------

const boxesOf = (image) => (isTold() && hasBoxes ? sample.evidence.filter((one) => one.image === image).map(({ box }) => box) : []);
const drawBoxes = () => { if (!mending) zoom.draw(boxesOf(shownImage)); };
const openImage = (number) => {
  shownImage = number;
  draw();
};

const tool = (words, title, onclick, more = {}) => el("button", { type: "button", title, "aria-label": title, onclick, ...more }, words);
const stageOf = () => {
  const image = sample.images[shownImage];
  const canShow = viewer && image?.width;
  const count = isTold() ? sample.evidence.length : 0;
  return el("section", { id: "stage", "aria-label": "Picture" },
    canShow ? el("div", { class: "actions" },
      tool("+", "Zoom in", () => zoom.zoom(1.6)), tool("−", "Zoom out", () => zoom.zoom(1 / 1.6)), tool("Whole", "Show all of the picture", () => zoom.home()),
      sample.images.length > 1 ? tool(`Picture ${shownImage + 1} of ${sample.images.length}`, "Next picture", nextImage) : null,
      count ? tool(`Evidence (${count})`, "Evidence", toggleBoxes, { id: "evidence", "aria-pressed": String(hasBoxes) }) : null) : null,
    canShow ? zoom.place : el("p", { class: "next" }, image?.error ?? (viewer ? "It has no picture." : "No viewer is known here, so that no picture is seen: gigavqa up starts one.")));
};
const nextImage = () => openImage((shownImage + 1) % sample.images.length);
const toggleBoxes = () => {
  hasBoxes = !hasBoxes;
  draw();
};

// How it can be answered: by a key for each, several at once, or in words.
const answerForm = () => {
  const several = sample.kind.includes("several");
  const answers = sample.options ? Object.entries(sample.options) : sample.possible.map((one) => [one, one]);
  const cannot = el("button", { type: "button", "data-key": 0, onclick: () => answer("") }, el("kbd", {}, "0"), " It cannot be told");
  if (!answers.length || several) {
    const field = el("input", { id: "answer", autocomplete: "off", inputmode: sample.kind === "number" ? "decimal" : "text", maxlength: 4000 });
    const toggle = (event) => event.currentTarget.setAttribute("aria-pressed", String(event.currentTarget.getAttribute("aria-pressed") !== "true"));
    const buttons = answers.map(([letter, words], number) => el("button", { type: "button", "data-key": number + 1, "data-letter": letter, "aria-pressed": "false", onclick: toggle }, el("kbd", {}, letter), ` ${words}`));
    const words = () => (several ? buttons.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.letter).join(", ") : field.value.trim());
    return el("form", { id: "answering", class: "answers", "aria-label": "Your answer", onsubmit: (event) => {
      event.preventDefault();
      if (sample.kind === "number" && words() && !/^[+-]?(\d+(\.\d+)?|\.\d+)$/.test(words())) say("Give a number, such as 12 or 3.5, or say that it cannot be told.");
      else if (words()) answer(words());
    } }, several ? buttons : el("label", { class: "whole" }, sample.kind === "number" ? "Your answer, a number" : "Your answer", field), el("button", { class: "main" }, "Answer"), cannot);
  }
  return el("div", { id: "answering", class: "answers", role: "group", "aria-label": "Your answer" },
    answers.map(([value, words], number) => el("button", { type: "button", "data-key": number + 1, "data-letter": sample.options ? value : null, onclick: () => answer(value) }, el("kbd", {}, sample.options ? value : String(number + 1)), ` ${words}`)), cannot);
};

const optionList = () => (sample.options ? el("ul", { class: "options one" }, Object.entries(sample.options).map(([letter, words]) =>
  el("li", { class: letter === sample.truth ? "true" : null }, `${letter}: ${words}`, letter === sample.truth ? el("b", {}, " (the truth)") : null, letter === given.answer ? " – your answer" : null))) : null);
const othersSay = () => {
  const others = Object.entries(sample.reviews).filter(([reviewer]) => reviewer !== desk.reviewer);
  if (!others.length || (!sample.mine && chosen.state !== "conflict")) return null; // a second opinion is one's own
  return el("ul", { id: "others" }, others.map(([reviewer, review]) => el("li", {}, `${reviewer}: ${inWords(review)}${review.answer ? ` (answered ${review.answer})` : ""}`)));
};
const toldOf = () => {
  const isChoice = sample.options && sample.truth in sample.options;
  return el("div", { id: "told" },
    optionList(),
    isChoice ? null : el("p", {}, "Truth: ", el("b", {}, sample.truth || "not known"), given.answer === null ? null : `, your answer: ${given.answer || "it cannot be told"}`),
    isChoice && given.answer !== null && !(given.answer in sample.options) ? el("p", {}, `Your answer: ${given.answer || "it cannot be told"}`) : null,
    sample.told.length ? el("details", {}, el("summary", {}, "What else is known of it"), el("ul", {}, sample.told.map((line) => el("li", {}, line)))) : null,
    othersSay(),
    sample.mine ? el("p", { id: "mine" }, `You said: ${inWords(sample.mine)}`) : null,
    chosen.state === "conflict" && desk.may_settle ? el("p", { class: "soft" }, "Reviewers differ here: what you say settles it.") : null);
};
const verdicts = () => {
  if (mode === "drop") return dropForm((more) => judge("drop", more), () => setMode(""));
  if (mode === "mend") {
    mending ??= mendForm(sample, zoom, { onMend: (more) => judge("mend", more), onCancel: () => setMode(""), say });
    return mending.form;
  }
  const button = (verdict, key, words, onclick) => el("button", { type: "button", id: verdict, class: verdict === "keep" ? "main" : null, onclick }, el("kbd", {}, key), ` ${words}`);
  return el("div", { class: "actions verdicts" }, button("keep", "K", "Keep", () => judge("keep")), button("mend", "M", "Mend", () => setMode("mend")), button("drop", "D", "Drop", () => setMode("drop")));
};

const bar = () => {
  const done = el("progress", { max: Math.max(1, desk.samples), "aria-label": "reviewed by you" });
  done.value = desk.reviewed;
  return el("div", { id: "bar" },
    el("div", { class: "actions" },
      el("label", {}, "Show", el("select", { id: "state", onchange: (event) => {
        chosen.state = event.target.value;
        attempt(async () => {
          sample = null;
          await forward();
        });
      } }, Object.entries(FILTERS).map(([value, words]) => el("option", { value, selected: value === chosen.state }, words)))),
      tool("←", "Previous", () => step("before"), { id: "previous", disabled: !sample }), tool("→", "Next", () => step("after"), { id: "next", disabled: !sample }),
      tool("Undo", "Undo", undo, { id: "undo", disabled: !past.length && !sample?.mine }), tool("?", "Keys", showKeys, { id: "keys" })),
    el("p", { class: "soft" }, `${desk.reviewed} of ${desk.samples} reviewed by ${desk.reviewer}`, sample ? `; this is number ${sample.position}` : ""), done);
};
const showKeys = () => {
  const dialog = el("dialog", { "aria-label": "Keys" }, el("dl", { class: "keys" }, KEYS.map(([key, words]) => el("div", {}, el("dt", {}, key), el("dd", {}, words)))), el("form", { method: "dialog", class: "actions" }, el("button", {}, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};

let drawn = "";
const draw = () => {
  if (!sample) {
    const words = chosen.state === "unreviewed" ? "You have reviewed all of it." : { all: "It has no sample.", conflict: "Reviewers differ on none." }[chosen.state] ?? `None is ${FILTERS[chosen.state]}.`;
    show(bar(), el("p", { id: "over", class: "next" }, words), progressSection());
    drawn = "";
    return;
  }
  const groups = [...new Set(Object.values(sample.groups))].map(spaced).join(", ");
  show(bar(), el("div", { class: "two" }, stageOf(), el("section", { id: "asked", "aria-label": "Question" },
    el("p", { class: "soft" }, [sample.id, groups].filter(Boolean).join(": ")),
    el("p", { class: "question" }, sample.question),
    isTold() ? [toldOf(), verdicts()] : answerForm())), progressSection());
  const image = sample.images[shownImage];
  const wanted = `${sample.id} ${shownImage}`;
  if (viewer && image?.width && drawn !== wanted) zoom.open(image);
  drawn = wanted;
  drawBoxes();
  say("");
};

let areTablesOpen = false;
const progressSection = () => el("details", { id: "progress", open: areTablesOpen, ontoggle: (event) => {
  if (event.target.open !== areTablesOpen) showTables(event.target.open);
} }, el("summary", {}, "How far it is, and who agrees"), el("div", { id: "tables" }));
const showTables = (isOpen) => attempt(async () => {
  areTablesOpen = isOpen;
  if (!isOpen) return;
  const found = await get(`${route}?limit=0`);
  document.getElementById("progress").open = true;
  document.getElementById("tables").replaceChildren(...tables(found).filter(Boolean));
});

// --- keys -----------------------------------------------------------------------------------------------------------

const ACTIONS = {
  k: () => isTold() && !mode && judge("keep"), m: () => isTold() && !mode && setMode("mend"), d: () => isTold() && !mode && setMode("drop"),
  u: undo, e: () => isTold() && toggleBoxes(), p: () => sample?.images.length > 1 && nextImage(),
  ArrowLeft: () => step("before"), ArrowRight: () => step("after"), "?": showKeys, "+": () => zoom.zoom(1.6), "-": () => zoom.zoom(1 / 1.6), Escape: () => mode && setMode(""),
};
const buttonOf = (key) => {
  const isBlind = sample && !isTold();
  const letter = isBlind && sample.options && document.querySelector(`#answering [data-letter="${CSS.escape(key.toUpperCase())}"]`);
  return letter || (/^\d$/.test(key) && (isBlind || mode === "drop") ? document.querySelector(`#answering [data-key="${key}"], #dropping [data-key="${key}"]`) : null);
};
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || (isTyping && event.key !== "Escape")) return;
  if (event.key.startsWith("Arrow") && event.target.closest(".pane")) return; // there they pan
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const button = buttonOf(key);
  const act = button ? () => button.click() : ACTIONS[key];
  if (!act) return;
  event.preventDefault();
  act();
});

crumbs(["/datasets", "Data sets"], [`/datasets/${encodeURIComponent(name)}`, name], ["", "Review"]);
title(`Review of ${name}`);
attempt(async () => {
  const found = (chosen.sample && await look({ sample: chosen.sample })) || await look({ state: chosen.state });
  if (found) await open(found);
  else await finish();
});
