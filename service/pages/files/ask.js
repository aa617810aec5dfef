// Ask a served model about a picture, or about a region of it, and go on asking.

import { costOf, play } from "./chat.js";
import { drawKept, keepForm } from "./kept.js";
import { byId, el, link, section, takeDrops } from "./parts.js";
import { choose, current, displayFault, drawPicture, drawRegion, faultOf, find, named, reference, shownPart } from "./picture.js";
import { attempt, chosenIn, get, keepChosen, Refusal, repeat, say, show } from "./shell.js";

const chosen = chosenIn({ model: "", image: "", region: "", show: "", question: "" });
const keep = (changes) => {
  Object.assign(chosen, changes);
  keepChosen(chosen);
};

// --- whom -----------------------------------------------------------------------------------------------------------

let served = [];
const isAway = () => chosen.model && !served.some((one) => one.id === chosen.model);
// Who was chosen stays so: a worker may be away for a moment.
const drawModels = () => {
  byId("model").replaceChildren(isAway() ? el("option", { value: chosen.model, selected: true }, `${chosen.model}: served by nobody now`) : "", ...served.map((one) => el("option", { value: one.id, selected: one.id === chosen.model },
    `${one.title}${one.loaded ? "" : one.starting ? ": starts" : ": not loaded"}${one.random && !one.title.includes("random weights") ? " (random weights)" : ""}`)));
  byId("unserved").hidden = served.length > 0;
  byId("asking").hidden = !served.length && !stopping;
  if (byId("model").value !== chosen.model) begin({ model: byId("model").value });
  tellNext();
};

const unserved = () => el("div", { class: "next", id: "unserved", hidden: true }, "No model is served now. At a terminal of a machine with a GPU:", el("ul", {},
  el("li", {}, el("code", {}, "gigavqa up --model MODEL"), " serves one of the ", link("/models", "models")),
  el("li", {}, el("code", {}, "gigavqa models --fits h100"), " says which fit a GPU")), "This page goes on as soon as one is there.");

// --- the conversation -----------------------------------------------------------------------------------------------

let messages = []; // as the model is sent them
let shown = null; // region and display that were shown last; null before anything was
let stopping = null;
let bringing = 0; // the picture that is being brought, by number; 0 where none is
let brought = 0;

// Another picture or model is another conversation; what was said stays to be read.
const begin = (changes) => {
  keep(changes);
  if (messages.length) byId("talk").append(el("li", { class: "anew soft" }, "A new conversation"));
  messages = [];
  shown = null;
};

const wanted = () => byId("region").value.trim();
const display = () => byId("display").value.trim();
const showsMore = () => current() && (shown?.region !== wanted() || shown.show !== display());
const faultNow = () => faultOf(wanted()) || displayFault(display());
const tellNext = () => {
  const fault = faultNow();
  byId("send").disabled = Boolean(bringing || fault || isAway());
  const words = bringing ? "Another picture is being brought; the question can be asked once it is there."
    : isAway() ? `${chosen.model} is served by nobody now: wait, or choose another model, which begins a new conversation.`
    : fault || tellShown();
  byId("shows").textContent = words;
};
const tellShown = () => (!current() ? "The question is asked without a picture."
    : !showsMore() ? "The question goes on about what was shown."
    : `The question shows ${wanted() ? `region ${wanted()}` : "the whole picture"}${display() ? `, ${display()}` : ""}.`);

const turn = (who, ...told) => el("li", {}, el("b", {}, who), ...told);

const questionTurn = (question, region) => {
  const part = region === null ? null : shownPart(region, 240, display());
  return turn("You", part && el("div", { class: "shown" }, part),
    region === null ? null : el("span", { class: "soft" }, region ? ` showed region ${region} of ${current().name}` : ` showed ${current().name}`),
    el("p", { class: "question" }, question));
};

const content = (question, region) => [
  ...(region === null ? [] : [{ type: "image_url", image_url: { url: reference(region, display()) } }]),
  { type: "text", text: question },
];

const busy = (isBusy) => {
  byId("send").hidden = isBusy;
  byId("stop").hidden = !isBusy;
  for (const name of ["model", "anew"]) byId(name).disabled = isBusy;
};

const askNow = async () => {
  const question = byId("question").value.trim();
  if (!question || stopping || bringing || isAway() || faultNow()) return;
  const region = showsMore() ? wanted() : null;
  const show = display();
  const about = current() && { picture: current(), region: wanted(), show, question };
  const title = served.find((one) => one.id === chosen.model).title;
  const asked = questionTurn(question, region);
  const text = el("p", { class: "answer" });
  const cost = el("p", { class: "soft" });
  const answer = turn(title, text, cost);
  byId("talk").append(asked, answer);
  byId("question").value = "";
  keep({ question: "" });
  busy(true);
  say(`${title} is asked`);
  stopping = new AbortController();
  const before = messages;
  const sent = [...messages, { role: "user", content: content(question, region) }];
  answer.scrollIntoView({ block: "nearest" });
  try {
    const told = await play(chosen.model, sent, (piece) => text.append(piece), stopping.signal);
    if (messages === before) {
      messages = [...sent, { role: "assistant", content: told.text }];
      shown = region === null ? shown : { region, show };
    } // else another conversation began meanwhile
    cost.textContent = costOf(told);
    say(`${title} has answered`);
    if (about) answer.append(keepForm(about));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    cost.className = "failed";
    const why = stopping.signal.aborted ? "Stopped." : named(error.message);
    cost.textContent = `${why} The question is not part of the conversation.`;
    byId("question").value ||= question;
    say(why);
  } finally {
    stopping = null;
    busy(false);
    drawModels();
    if (matchMedia("(pointer: fine)").matches) byId("question").focus(); // elsewhere a keyboard would cover the answer
  }
};

// --- the picture ----------------------------------------------------------------------------------------------------

const setRegion = (region) => {
  byId("region").value = region;
  keep({ region });
  drawRegion(region);
  tellNext();
};

const setDisplay = (show) => {
  byId("display").value = show;
  keep({ show });
  byId("picture").replaceChildren(...drawPicture(setRegion, show));
  byId("proposals").replaceChildren(...(current()?.displays ?? []).map((line) => el("button", { type: "button", "aria-pressed": String(line === show), onclick: () => setDisplay(line) }, line)));
  drawRegion(wanted());
  tellNext();
};

// The picture that was wanted last counts, whatever comes first; until it is there nothing is asked.
const bring = (given, region = "", show = "") => attempt(async () => {
  const mine = bringing = ++brought;
  tellNext();
  try {
    const found = await find(given, show);
    if (mine === brought) draw(found, region, show);
  } catch (error) {
    if (mine === brought) throw error;
  } finally {
    if (mine === brought) bringing = 0;
    tellNext();
  }
});

const draw = (found, region, show) => {
  choose(found);
  begin({ image: found?.id ?? "", region: "", show: "" });
  setDisplay(current() ? show : "");
  byId("drop").classList.toggle("small", Boolean(current()));
  byId("regions").hidden = !current();
  setRegion(current() ? region : "");
  say(current() ? `${current().name} is ready` : "no picture");
};

const drop = () => {
  const file = el("input", { type: "file", id: "file", onchange: () => {
    if (file.files.length) bring(file.files[0]);
    file.value = ""; // the same one may be chosen again
  } });
  return takeDrops(el("div", { id: "drop", class: "drop" },
    el("label", {}, "Drop a picture here, or choose one", file),
    el("p", { class: "soft" }, "or take one of the ", link("/datasets", "data sets"), ". What is sent here is kept for a week.")), ([first]) => { if (first) bring(first); });
};

const regions = () => el("div", { class: "actions", id: "regions", hidden: true },
  el("div", { id: "proposals", class: "actions", role: "group", "aria-label": "Proposed displays" }),
  el("label", {}, "Display: how samples become colours, where not as they are", el("input", { id: "display", spellcheck: "false", autocomplete: "off", maxlength: 500, placeholder: "as it is, or as its data set declares", onchange: () => setDisplay(display()), oninput: tellNext })),
  el("label", {}, "Region: draw it, or write x,y,width,height", el("input", { id: "region", spellcheck: "false", autocomplete: "off", placeholder: "the whole picture", oninput: () => setRegion(byId("region").value.trim()) })),
  el("button", { type: "button", onclick: () => setRegion("") }, "Whole picture"),
  el("button", { type: "button", onclick: () => bring("") }, "No picture"));

// --- the page -------------------------------------------------------------------------------------------------------

const question = () => {
  const area = el("textarea", { id: "question", rows: 3, required: true, placeholder: "What is to be seen?" });
  area.value = chosen.question;
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    askNow();
  });
  return el("form", { id: "asking", class: "asking", hidden: true, onsubmit: (event) => {
    event.preventDefault();
    askNow();
  } },
    el("label", { class: "whole" }, "Model", el("select", { id: "model", onchange: () => begin({ model: byId("model").value }) })),
    el("label", { class: "whole" }, "Question (Enter asks, Shift and Enter begin a line)", area),
    el("span", { id: "shows", class: "soft whole" }),
    el("button", { id: "send", class: "main" }, "Ask"),
    el("button", { type: "button", id: "stop", hidden: true, onclick: () => stopping?.abort() }, "Stop"),
    el("button", { type: "button", id: "anew", onclick: () => { begin({}); tellNext(); } }, "New conversation"));
};

show(
  el("div", { class: "two" },
    section("Picture", el("div", { id: "picture" }), regions(), drop()),
    section("Conversation", el("ol", { id: "talk", class: "talk" }), unserved(), question())),
  el("div", { id: "kept" }));
drawKept();
say("Ask a model about a picture or a region of it; the answer comes as it is written");
if (chosen.image) bring(chosen.image, chosen.region, chosen.show);

let listed = "";
repeat(async () => {
  const models = (await get("/v1/models")).data.filter((one) => one.workers);
  const text = JSON.stringify(models.map(({ id, title, loaded, starting, random_weights: random }) => ({ id, title, loaded, starting: starting.length, random })));
  if (text === listed) return;
  listed = text;
  served = JSON.parse(text);
  drawModels();
});
