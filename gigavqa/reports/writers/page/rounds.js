// A chat that went on in rounds: of each what was thought, what was called, and what came of it, in order.

const STOPS = { answered: "it answered", rounds: "no round was left for what it asked", context: "there was no room for another round" };
const SHORT_RESULT = 500; // characters that are not folded away

const statusOf = (status) => el("span", { class: `status ${status === "ok" ? "ok" : status === "not_run" ? "" : "bad"}`.trim() }, spaced(status));

const endOf = (response) => {
  const { limit } = CELLS[response.cell];
  const number = plural(response.played, "round");
  const of = limit ? `${number} of at most ${limit}` : number;
  if (response.stop) return `Ended after ${of}: ${STOPS[response.stop] ?? response.stop}.`;
  return `Failed after ${of}: ${response.status}.`;
};

const callOf = (call) => {
  const [name, args, status] = [textOf(call.name), textOf(call.arguments), call.status];
  return [el("p", { class: "who" }, "Called"),
    el("p", { class: "call" }, el("code", {}, name || "(no tool that has a name)"), " ", statusOf(status)),
    args ? el("pre", { tabindex: 0 }, args) : null];
};

const writtenOf = (round) => {
  const thought = textOf(round.thought);
  const raw = textOf(round.text);
  const fold = thought || raw.length > SHORT_RESULT;
  return [thought ? said("Thought", thought) : null,
    round.call ? callOf(round.call) : null,
    !raw ? null : fold && round.call ? el("details", { class: "thought" }, el("summary", {}, "As it was written"), el("pre", { tabindex: 0 }, raw)) : said("Wrote", raw)];
};

const pictureIn = (sample, response, at) => {
  const view = sample.views[at];
  const boxes = boxesOn(view, sample, response).filter(([kind]) => kind === "true" || kind === "read");
  const button = el("button", { type: "button", class: "picture", disabled: !pictureOf(view.key), "aria-label": `Enlarge: ${view.caption}` }, frame(view, boxes, view.caption));
  button.addEventListener("click", () => enlarge(view, boxes));
  return el("figure", {}, button, el("figcaption", {}, view.name ? `${view.name}, ` : null, view.caption,
    DATA.viewer ? [" ", lookCloser(sample, response, view.image, view.full ? "Look closer at it" : "Look closer at this region", view.region)] : null));
};

// What the last answer came to, beside it.
const judgedOf = (sample, response) => [el("p", { class: "who" }, "Judged"),
  el("p", { class: "verdict" }, marked(response), ` ${verdictOf(response)}`, response.value === undefined ? null : [": ", el("b", {}, response.value)]),
  el("p", { class: "who" }, "The truth"), el("p", { class: "verdict" }, sample.truth || "awaits an expert")];

const resultOf = (sample, response, call) => {
  if (!call || call.status === "malformed") return null;
  const words = textOf(call.result);
  const facts = [call.documents ? `pages ${textOf(call.documents)}` : "", call.cached ? "asked before in this job" : "",
    call.seconds ? `after ${seconds(call.seconds)}` : ""].filter(Boolean);
  const text = el("pre", { tabindex: 0 }, words);
  return [el("p", { class: "who" }, "Got"),
    call.views?.length ? el("div", { class: "views" }, call.views.map((at) => pictureIn(sample, response, at))) : null,
    !words ? el("p", { class: "note" }, "nothing: the chat was over") : words.length > SHORT_RESULT
      ? el("details", {}, el("summary", {}, `${words.slice(0, 120).trim()} …`), text) : text,
    facts.length ? el("p", { class: "small" }, facts.join(", ")) : null];
};

const roundsOf = (sample, response) => {
  const last = response.rounds.length - 1;
  const isAnswer = (at) => at === last && response.stop === "answered";
  return [response.rounds.map((round, at) => el("section", { class: "round", "data-round": at + 1 },
      el("h5", {}, `Round ${at + 1}`),
      el("div", { class: "turn" },
        el("div", {}, writtenOf(round), isAnswer(at) ? [response.thought ? said("Thought", textOf(response.thought)) : null, said("Answered", textOf(response.text))] : null),
        el("div", {}, resultOf(sample, response, round.call), at === last ? judgedOf(sample, response) : null))))];
};
