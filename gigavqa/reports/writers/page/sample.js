// One sample, opened at one response: question and options, pictures with boxes, prompt beside answer, judged parts.

let pictures = null; // decoded when first needed
const pictureOf = (key) => (pictures ??= JSON.parse(byId("pictures").textContent))[key];
const layers = { true: true, read: true, local: true, zoom: true };
const LAYERS = { true: "the truth", read: "the model's answer", local: "local evidence", zoom: "zooms of the chat" };

// --- pictures ------------------------------------------------------------------------------------------------------

// The pictures that any response was shown otherwise than by a later look.
const planned = (sample) => sample.planned ??= new Set(sample.responses.flatMap((one) => {
  const zooms = new Set((one.zooms ?? []).map(([at]) => at));
  return (one.views ?? []).filter((at) => !zooms.has(at));
}));

const boxesOn = (view, sample, response) => {
  const { first, image, source: [width, height] } = view;
  const inPixels = ([left, top, right, bottom]) => [left * width, top * height, (right - left) * width, (bottom - top) * height];
  const seen = new Set();
  const truths = sample.responses.flatMap((one) => one.parts).flatMap((part) => part.true.map((box) => ["true", part.name, inPixels(box)]));
  const read = response.parts.flatMap((part) => part.boxes.map((box) => ["read", part.name, inPixels(box)]));
  const zooms = new Map(response.zooms ?? []);
  const local = !view.full ? [] : [...sample.views.entries()].filter(([at, other]) => !other.full && other.image === image && (zooms.has(at) || planned(sample).has(at)))
    .map(([at, other]) => (zooms.has(at) ? ["zoom", zooms.get(at) && `round ${zooms.get(at)}`, other.region] : ["local", "", other.region]));
  return [...local, ...(first ? [...truths, ...read] : [])].filter(([kind, name, box]) => {
    const known = `${kind} ${name} ${box}`;
    return !seen.has(known) && seen.add(known);
  });
};

const overlay = (view, boxes) => svg("svg", { viewBox: view.region.join(" "), preserveAspectRatio: "none", class: "boxes", "aria-hidden": "true" },
  boxes.flatMap(([kind, name, [x, y, width, height]]) => ["halo", ""].map((halo) =>
    svg("rect", { class: `${kind} ${halo}`, "data-part": name || null, x, y, width, height }))),
  boxes.filter(([kind, name]) => kind === "zoom" && name).map(([kind, name, [x, y]]) => {
    const size = view.region[2] / 30;
    const [left, top] = [Math.max(x, view.region[0]), y - view.region[1] > 1.2 * size ? y - size / 4 : y + 1.1 * size];
    return svg("text", { class: kind, x: left + size / 6, y: top, "font-size": size }, name.replace("round ", ""));
  }));

const frame = (view, boxes, alt) => {
  const data = pictureOf(view.key);
  return data ? el("span", { class: "frame", style: `--ratio: ${view.size[0] / view.size[1]}` }, el("img", { src: data, alt }), overlay(view, boxes)) : el("span", { class: "none" }, "no preview");
};

const enlarge = (view, boxes) => {
  const dialog = byId("enlarged");
  dialog.replaceChildren(frame(view, boxes, view.caption), toggles(boxes), el("p", { class: "small" }, `${view.caption}. The preview that is kept of it shows at most 640 pixels a side.`),
    el("button", { type: "button", "data-close": true }, "Close"));
  dialog.showModal();
};

const toggles = (boxes) => {
  const kinds = Object.keys(LAYERS).filter((kind) => boxes.some((box) => box[0] === kind));
  return kinds.length ? el("p", { class: "layers" }, kinds.map((kind) => el("label", { class: kind },
    el("input", { type: "checkbox", "data-layer": kind, checked: layers[kind] }), LAYERS[kind]))) : null;
};

const showLayers = () => {
  for (const kind of Object.keys(layers)) document.body.classList.toggle(`hide-${kind}`, !layers[kind]);
  for (const box of document.querySelectorAll("[data-layer]")) box.checked = layers[box.dataset.layer];
};

// Where the evidence viewer shows all of it; what it is to show stands behind `#`, which no server is sent.
const MOST_BOXES = 1000;
const withOption = (sample, value) => (Object.hasOwn(sample.options ?? {}, value) ? `${value}: ${sample.options[value]}` : value ?? "");
const inRounds = (response) => (response.rounds ?? []).flatMap((round) => round.call?.views ?? []);
const lookCloser = (sample, response, image, words, at = undefined) => {
  const shown = new Set([...(response.views ?? []), ...inRounds(response)]);
  const view = { ...sample.views.find((one) => one.image === image), full: true };
  const options = Object.entries(sample.options ?? {}).map(([letter, words]) => `${letter}: ${words}`).join("\n");
  const told = [["Question", textOf(sample.question)], ["Options", options], ["Truth", withOption(sample, sample.truth)],
    [`${nameOf(CELLS[response.cell])} answered`, `${withOption(sample, response.value)} (${OUTCOMES[response.outcome]})`]];
  const seen = sample.views.filter((one, number) => one.image === image && shown.has(number)).map(({ region, size, caption, show }) => ({ region, size, caption, show }));
  const wish = { image, digest: view.digest, show: view.show, title: sample.id, told, seen, boxes: boxesOn(view, sample, response).slice(0, MOST_BOXES), at, back: jobsHere() && [location.href.split("#")[0] + addressOf(state), "the report"] };
  return el("a", { href: `${DATA.viewer}/view#${encodeURIComponent(JSON.stringify(wish))}`, target: "_blank", rel: "noopener" }, words);
};
// A viewer of this machine runs when somebody starts it: a page is opened years later, too.
const viewerNote = () => {
  const { hostname, port } = new URL(DATA.viewer);
  return ["127.0.0.1", "localhost"].includes(hostname) ? el("span", { class: "small" }, `(where the viewer runs: gigavqa viewer${port === "8471" ? "" : ` --port ${port}`})`) : null;
};
const closerOf = (sample, response) => unique(sample.views.map((view) => view.image)).map((image) => lookCloser(sample, response, image, `Look closer at ${image}`));

// The surroundings of each box, of the sharpest picture that holds them: all that a page can show by itself, when it is mailed.
const MOST_CROPS = 6;
const cropsOf = (sample, response) => {
  const first = sample.views.find((view) => view.first);
  if (!first) return [];
  const boxes = boxesOn({ ...first, full: true }, sample, response);
  const pictures = sample.views.filter((view) => view.first && pictureOf(view.key));
  const holds = ({ region: [x, y, width, height] }, box) => x <= box[0] && y <= box[1] && x + width >= box[0] + box[2] && y + height >= box[1] + box[3];
  return boxes.filter(([kind]) => kind === "true" || kind === "read").slice(0, MOST_CROPS).map(([kind, name, box]) => {
    const [view] = pictures.filter((one) => holds(one, box)).sort((one, other) => one.region[2] - other.region[2]);
    if (!view) return null;
    const side = 2.5 * Math.max(box[2], box[3], view.region[2] / 40);
    const region = [box[0] + box[2] / 2 - side / 2, box[1] + box[3] / 2 - side / 2, side, side];
    const [x, y, width, height] = view.region;
    const picture = svg("svg", { viewBox: region.join(" "), class: "crop", role: "img", "aria-label": `${LAYERS[kind]} ${name}` },
      svg("image", { href: pictureOf(view.key), x, y, width, height, preserveAspectRatio: "none" }));
    return el("figure", {}, el("span", { class: "frame" }, picture, overlay({ region }, boxes)), el("figcaption", {}, `${name} ${LAYERS[kind]}`.trim()));
  });
};

const evidenceOf = (sample, response) => {
  const crops = cropsOf(sample, response).filter(Boolean);
  return [DATA.viewer ? el("p", { class: "closer" }, closerOf(sample, response), viewerNote()) : null,
    crops.length ? [el("h4", {}, "Around the evidence"), el("div", { class: "crops" }, crops)] : null];
};

const picturesOf = (sample, response) => {
  if (!sample.views.length) return null;
  const shown = new Set(response.views ?? []);
  const opening = new Set(sample.responses.flatMap((one) => one.views ?? [])); // those of rounds stand there
  const ordered = sample.views.map((view, at) => [view, shown.has(at), at]).filter(([, , at]) => opening.has(at)).sort((one, other) => other[1] - one[1] || other[0].full - one[0].full);
  const all = ordered.map(([view, isShown]) => [view, isShown, boxesOn(view, sample, response)]);
  return el("section", { class: "seen" },
    el("h4", {}, shown.size ? "What the model saw" : "This response was shown no picture"),
    toggles(all.flatMap(([, , boxes]) => boxes)),
    el("div", { class: "views" }, all.map(([view, isShown, boxes]) => {
      const button = el("button", { type: "button", class: "picture", disabled: !pictureOf(view.key), "aria-label": `Enlarge: ${view.caption}` }, frame(view, boxes, view.caption));
      button.addEventListener("click", () => enlarge(view, boxes));
      const told = [isShown ? null : el("b", {}, "in other responses: "), view.evidence ? el("b", { class: "proof" }, "evidence: ") : null, view.name ? `${view.name}, ` : null, view.caption];
      return el("figure", { class: [isShown ? "" : "other", view.evidence ? "proof" : ""].join(" ").trim() || null }, button, el("figcaption", {}, told));
    })),
    evidenceOf(sample, response));
};

// --- response ------------------------------------------------------------------------------------------------------

const seconds = (value) => (value < 10 ? `${Number(value.toPrecision(2))} s` : value < 60 ? `${Math.round(value)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`);

const tookOf = (response) => {
  if (!response.spent) return [];
  const [prompt, cached, completion, queued, rendering, prefill, decode] = response.spent;
  const tokens = prompt || completion
    ? [`${prompt.toLocaleString("en")} tokens read${cached ? `, ${cached.toLocaleString("en")} of them cached` : ""}`, `${completion.toLocaleString("en")} written`] : [];
  const times = [[queued, "waiting"], [rendering, "for pictures"], [prefill, "reading"], [decode, "writing"]].filter(([time]) => time >= 0.001);
  return [...tokens, ...times.map(([time, name]) => `${seconds(time)} ${name}`)];
};

const said = (title, words, empty = "(empty)") => [el("p", { class: "who" }, title), el("pre", { tabindex: 0 }, words || empty)];

const answerOf = (response) => [
  response.thought ? el("details", { class: "thought" }, el("summary", {}, "Thoughts"), el("pre", { tabindex: 0 }, textOf(response.thought))) : null,
  said("Answered", textOf(response.text), response.outcome === "failed" ? `(no answer: ${response.status})` : response.stop && response.stop !== "answered" ? "(no answer)" : "(empty)"),
  response.closing ? said("Closing turn", textOf(response.closing)) : null,
];

const askedOf = (response) => {
  const turns = DATA.chats[response.chat - 1];
  return response.chat ? said("Asked", turns.at(-1)[0].map(textOf).join("\n\n")) : [el("p", { class: "who" }, "Asked"), el("p", { class: "note" }, `The prompt is not shown: ${textOf(response.unknown) || "nothing is known of it"}.`)];
};

const chatOf = (sample, response) => {
  if (response.rounds) return el("div", { class: "chat rounds" }, askedOf(response), roundsOf(sample, response));
  if (!response.chat) {
    return el("div", { class: "chat" }, el("div", { class: "turn" },
      el("div", {}, el("p", { class: "who" }, "Asked"), el("p", { class: "note" }, `The prompt is not shown: ${textOf(response.unknown) || "nothing is known of it"}.`)),
      el("div", {}, answerOf(response))));
  }
  const turns = DATA.chats[response.chat - 1];
  const answers = new Map(response.parts.map((part) => [part.name, part.text]));
  return el("div", { class: "chat" }, turns.map(([asked, given, step], at) => el("div", { class: "turn" },
    el("div", {}, said(turns.length > 1 ? `Asked, turn ${at + 1} of ${turns.length}${step ? `: ${step}` : ""}` : "Asked", asked.map(textOf).join("\n\n"))),
    el("div", {}, given ? said("Given as its answer", textOf(given)) : null,
      step ? (answers.get(step) || !given ? said(given ? "Answered, and replaced" : "Answered", textOf(answers.get(step))) : null) : at === turns.length - 1 ? answerOf(response) : null))));
};

const PART_HEADS = ["Part", "Kind", "Question", "Truth", "Read as", "Verdict", "Raw text"];
const partRow = (part, told) => {
  const outcome = part.right ? "right" : "wrong";
  const cells = [part.name, Object.values(part.tags).map(spaced).join(", "), textOf(part.question), el("code", {}, textOf(part.truth)),
    part.read ? el("code", {}, textOf(part.read)) : "–", [MARKS[outcome].cloneNode(true), ` ${outcome} (${part.status})`], textOf(part.text)];
  return el("tr", { "data-part": part.name }, cells.slice(0, told ? 6 : 7).map((content, at) =>
    el(at ? "td" : "th", { scope: at ? null : "row", "data-head": PART_HEADS[at], class: at === 6 ? "raw" : null }, el("div", {}, content))));
};

const partsOf = (response) => {
  if (!response.parts.length || response.rounds) return null; // calls stand in the rounds
  const right = response.parts.filter((part) => part.right).length;
  const told = response.chat && DATA.chats[response.chat - 1].length > 1; // raw texts stand in the chat
  return el("section", {}, el("h4", {}, `Parts: ${right} of ${response.parts.length} right`),
    el("div", { class: "scroll parts" }, el("table", {},
      el("thead", {}, el("tr", {}, PART_HEADS.slice(0, told ? 6 : 7).map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, response.parts.map((part) => partRow(part, told))))));
};

const responseOf = (sample, response) => {
  const cell = CELLS[response.cell];
  const facts = [response.status && `${response.outcome === "failed" ? "failure" : "parse status"} ${response.status}`,
    ...Object.entries(response.tags).map(([name, value]) => `${spaced(name)} ${spaced(value)}`), ...tookOf(response)].filter(Boolean);
  return el("section", { class: `response ${response.outcome}` },
    el("h4", {}, el("b", {}, howOf(cell)), ` ${cell.title}${response.repeat ? `, repeat ${response.repeat}` : ""}`),
    el("p", { class: "verdict" }, marked(response), el("b", {}, ` ${OUTCOMES[response.outcome]}${response.value !== undefined ? `: ${response.value}` : ""}`),
      cutWords(response).map((words) => el("strong", { class: "badge" }, words))),
    el("ul", { class: "took" }, facts.map((fact) => el("li", {}, fact))),
    response.played ? el("p", { class: "stop" }, endOf(response), response.untold ? ` The rounds are ${textOf(response.untold)}.` : null) : null,
    chatOf(sample, response), partsOf(response));
};

// --- sample --------------------------------------------------------------------------------------------------------

// All responses to the sample: a line a model, a column a protocol and condition.
const stripOf = (sample) => {
  const pairs = unique(CELLS.filter((cell) => sample.byCell.has(cell.index)).map(howOf));
  const models = valuesOf("model").filter((model) => CELLS.some((cell) => cell.model === model && sample.byCell.has(cell.index)));
  const cellAt = (model, pair) => CELLS.find((cell) => cell.model === model && howOf(cell) === pair);
  return el("div", { class: "scroll strip" }, el("table", {},
    el("thead", {}, el("tr", {}, el("td"), pairs.map((pair) => el("th", { scope: "col" }, pair.split(" ").map((name) => el("span", {}, name)))))),
    el("tbody", {}, models.map((model) => el("tr", {}, el("th", { scope: "row" }, DATA.titles[model]), pairs.map((pair) => {
      const responses = sample.byCell.get(cellAt(model, pair)?.index) ?? [];
      return el("td", {}, responses.map((response) => {
        const button = buttonOf(sample, response);
        button.setAttribute("tabindex", 0);
        button.classList.toggle("open", placeOf(response) === state.at);
        return button;
      }));
    }))))));
};

const optionsOf = (sample) => {
  const options = Object.entries(sample.options ?? {});
  if (!options.length) return el("p", { class: "options" }, el("em", {}, "The answer: "), sample.truth || "awaits an expert");
  return el("ol", { class: "options" }, options.map(([letter, words]) => el("li", { class: letter === sample.truth ? "answer" : null },
    el("b", {}, letter), ` ${words}`, letter === sample.truth ? el("em", {}, " the answer") : null)),
  sample.truth ? null : el("li", { class: "note" }, "The answer awaits an expert."));
};

const proofOf = (sample) => (sample.evidence?.length
  ? [el("h4", {}, "The evidence"), el("ol", { class: "proof" }, sample.evidence.map((line) => el("li", {}, line)))] : null);

const barOf = (sample, samples) => {
  const at = samples.indexOf(sample);
  const go = (title, key, to) => el("button", { type: "button", "data-go": to?.id ?? "", disabled: !to, title: `${title} (key ${key})` }, title);
  return el("div", { class: "bar" }, el("h3", {}, sample.id), el("span", { class: "small" }, at < 0 ? "not among those shown" : `${at + 1} of ${samples.length}`),
    el("span", { class: "go" }, go("Previous", "k", samples[at - 1]), go("Next", "j", at < 0 ? samples[0] : samples[at + 1]),
      el("button", { type: "button", "data-go": "", "data-close": true, title: "Close (Escape)" }, "Close")));
};

const drawSample = (samples) => {
  const place = byId("open");
  const sample = SAMPLES.get(state.sample);
  place.hidden = !state.sample;
  if (!state.sample) return place.replaceChildren();
  if (!sample) {
    return place.replaceChildren(el("p", { class: "note" }, `This page does not show a sample '${state.sample}'.`));
  }
  const response = sample.responses.find((one) => placeOf(one) === state.at) ?? sample.responses[0];
  state.at = placeOf(response);
  place.replaceChildren(barOf(sample, samples),
    el("p", { class: "chips" }, Object.entries(sample.groups).filter(([, name]) => name).map(([level, name]) => el("span", { title: level }, spaced(name)))),
    el("div", { class: sample.views.length ? "asked" : null },
      el("div", {}, el("p", { class: "question" }, textOf(sample.question)), optionsOf(sample), proofOf(sample), el("h4", {}, "All responses"), stripOf(sample)),
      picturesOf(sample, response)),
    responseOf(sample, response));
  showLayers();
};
