// How samples become colours: a form over the one grammar of displays, histograms with the limits that were found, and
// proposals. What is chosen stands in the page's address as `show`, in the form that the viewer gives it.

import { byId, el, figure, problemOf, svg, whole } from "./dom.js";

const NUMBERS = {
  percentile: [["Black at", 2], ["White at", 98]],
  range: [["Black at", 0], ["White at", 1]],
  sigma: [["How many", 2]],
};
const IS_FOUND = ["percentile", "minmax", "sigma"]; // limits that the image has
const COLOURS = ["Red", "Green", "Blue"];
const [WIDTH, HEIGHT, STRIP] = [256, 64, 8];

let name, told, apply, looking = null;

// --- the address ---------------------------------------------------------------------------------------------------

export const askedDisplay = () => new URLSearchParams(location.search).get("show");
export const queryOf = (show) => (show ? `?${new URLSearchParams({ show })}` : "");
// An empty one stays there: it says that the data set decides, whatever a link behind `#` asks for.
const keepInAddress = (show) => {
  const query = new URLSearchParams(location.search);
  query.set("show", show);
  history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
};

// --- the grammar ---------------------------------------------------------------------------------------------------

const parse = (show) => {
  const parts = Object.fromEntries(show.split(" ").filter(Boolean).map((part) => part.split("=")));
  const [kind, ...numbers] = (parts.stretch ?? "").split(":");
  return { bands: parts.bands?.split(",") ?? [], kind, numbers, gamma: parts.gamma ?? "", nodata: parts.nodata ?? "", palette: "palette" in parts, per: parts.per ?? "band" };
};
const compose = () => {
  const bands = shownSelects().map((select) => select.value).join(",");
  const kind = byId("stretch").value;
  const numbers = [...byId("numbers").querySelectorAll("input")].map((input) => input.value.trim());
  const isPalette = byId("palette").checked;
  return [
    !isPalette && bands && `bands=${bands}`,
    !isPalette && kind && `stretch=${[kind, ...numbers].join(":")}`,
    !isPalette && byId("gamma").value.trim() && `gamma=${byId("gamma").value.trim()}`,
    byId("nodata").value.trim() && `nodata=${byId("nodata").value.trim()}`,
    isPalette && "palette",
    !isPalette && byId("per").value !== "band" && IS_FOUND.includes(kind) && `per=${byId("per").value}`,
  ].filter(Boolean).join(" ");
};

// --- the form ------------------------------------------------------------------------------------------------------

const shownSelects = () => [...byId("bands").querySelectorAll("select")];
const drawBands = (chosen) => {
  const count = Number(byId("bands-mode").value);
  byId("bands").replaceChildren(...Array.from({ length: count }, (_, at) => {
    const select = el("select", {}, ...Array.from({ length: told.bands }, (_, band) => el("option", { value: band + 1 }, `${band + 1}${band + 1 === told.alpha ? " (alpha)" : ""}`)));
    select.value = chosen[at] ?? Math.min(at + 1, told.bands);
    return el("label", {}, count === 1 ? "Band " : `${COLOURS[at]} `, select);
  }));
};
const drawNumbers = (chosen) => {
  const [black, white] = told.shown[0]?.limits ?? [0, 1]; // where a range begins that somebody has not chosen yet
  const kind = byId("stretch").value;
  byId("numbers").replaceChildren(...(NUMBERS[kind] ?? []).map(([words, usual], at) =>
    el("label", {}, `${words} `, el("input", { inputmode: "decimal", size: 6, value: chosen[at] ?? (kind === "range" ? [black, white][at] : usual) }))));
  byId("per-row").hidden = !IS_FOUND.includes(kind);
};
const fill = () => {
  const parts = parse(told.show);
  const colours = told.bands - (told.alpha ? 1 : 0);
  byId("own-bands").hidden = colours !== 1 && colours !== 3;
  byId("three-bands").hidden = told.bands < 2;
  byId("bands-mode").value = String(parts.bands.length || (byId("own-bands").hidden ? 3 : 0));
  drawBands(parts.bands);
  byId("as-they-are").hidden = told.bits !== 8;
  byId("stretch").value = parts.kind || (told.bits === 8 ? "" : "percentile");
  byId("per").value = parts.per;
  drawNumbers(parts.numbers);
  byId("gamma").value = parts.gamma;
  byId("nodata").value = parts.nodata;
  byId("nodata").placeholder = told.nodata ?? "";
  byId("palette").checked = parts.palette;
  byId("palette-row").hidden = !told.palette;
  byId("mixing").disabled = parts.palette;
};

// --- what was found ------------------------------------------------------------------------------------------------

// Black, a slope of greys between the limits, and white, as the samples below which it lies are shown.
const strip = (place, [black, white], id) => {
  const gradient = svg("linearGradient", { id, gradientUnits: "userSpaceOnUse", x1: place(black), x2: place(white), y1: 0, y2: 0 },
    svg("stop", { offset: 0, "stop-color": "#000" }), svg("stop", { offset: 1, "stop-color": "#fff" }));
  return [svg("defs", {}, gradient), svg("rect", { x: 0, y: HEIGHT + 2, width: WIDTH, height: STRIP, fill: `url(#${id})`, class: "strip" })];
};
const histogram = (band, at, all) => {
  const { counts, first, last, limits } = band;
  const colour = all.length === 3 ? `${COLOURS[at].toLowerCase()}, ` : "";
  if (!counts.length) return el("p", { class: "small" }, `Band ${band.band} has no sample that is shown.`);
  const place = (value) => (last > first ? Math.min(WIDTH, Math.max(0, ((value - first) / (last - first)) * WIDTH)) : WIDTH / 2);
  const [most, step] = [Math.sqrt(Math.max(...counts)), WIDTH / counts.length];
  const bars = counts.map((count, bin) => `V${(HEIGHT - (HEIGHT * Math.sqrt(count)) / most).toFixed(1)}H${((bin + 1) * step).toFixed(1)}`).join("");
  const found = limits ? `${figure(limits[0])} is black, ${figure(limits[1])} is white` : "shown as they are";
  const words = `Band ${band.band}, ${colour}samples from ${figure(band.least)} to ${figure(band.most)}, median ${figure(band.median)}; ${found}`;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 2 + STRIP}`, role: "img", "aria-label": words, class: all.length === 3 ? COLOURS[at].toLowerCase() : "grey", preserveAspectRatio: "none" },
    svg("path", { class: "bars", d: `M0 ${HEIGHT}${bars}V${HEIGHT}Z` }),
    ...(limits ?? []).map((limit) => svg("line", { class: "limit", x1: place(limit), x2: place(limit), y1: 0, y2: HEIGHT })),
    ...(limits ? strip(place, limits, `greys-${at}`) : []));
  return el("figure", {}, drawing, el("figcaption", {}, words));
};
const drawFound = () => {
  const kind = { u: "", i: "signed ", f: "floating point " }[told.type[0]] ?? "";
  byId("samples").textContent = `${whole(told.bands)} band${told.bands === 1 ? "" : "s"} of ${told.bits} bits ${kind}a sample${told.nodata === null ? "" : `; nodata is ${told.nodata}`}.`;
  byId("histograms").replaceChildren(...told.shown.map(histogram));
  byId("line").value = told.show ? `show = "${told.show}"` : "";
  byId("copy").disabled = !told.show;
  byId("copied").textContent = "";
  byId("as-declared").hidden = told.show === told.declared;
  byId("as-declared").textContent = told.declared ? "As its data set declares" : "As it is";
  if (told.refused && !told.declared) byId("as-declared").hidden = true;
};

// Whether a display is one of this picture; what was chosen before it is looked for no more.
const look = async (show) => {
  looking?.abort();
  const { signal } = (looking = new AbortController());
  try {
    const answer = await fetch(`samples/${name}${queryOf(show)}`, { signal });
    const said = answer.ok ? await answer.json() : await problemOf(answer);
    told = answer.ok ? said : told;
    byId("display-fault").textContent = answer.ok ? "" : said.detail;
    return answer.ok;
  } catch (error) {
    if (!signal.aborted) byId("display-fault").textContent = `The viewer does not answer: ${error.message}`;
    return false;
  }
};
const choose = async (show, isToFill) => {
  if (!(await look(show))) return;
  if (isToFill) fill();
  drawFound();
  keepInAddress(show && told.show);
  apply(show && told.show);
};

// --- proposals -----------------------------------------------------------------------------------------------------

const proposal = (line, onChoice) => {
  const picture = el("img", { src: `iiif/3/${name}/full/!320,320/0/default.jpg${queryOf(line)}`, alt: "", loading: "lazy" });
  picture.addEventListener("error", () => picture.remove());
  const button = el("button", { type: "button", class: "proposal" }, picture, el("span", {}, line));
  button.addEventListener("click", () => onChoice(line));
  return button;
};

// Say why a picture is not shown, and what could be declared; whether there is anything to offer.
export const offer = async (picture, detail, onChoice) => {
  name = picture;
  const answer = await fetch(`samples/${name}`);
  if (!answer.ok) return false;
  const { proposals } = await answer.json();
  byId("why").textContent = detail;
  byId("offers").replaceChildren(...proposals.map((line) => proposal(line, (chosen) => {
    keepInAddress(chosen);
    onChoice();
  })));
  byId("refused").hidden = !proposals.length;
  return proposals.length > 0;
};

// --- begin ---------------------------------------------------------------------------------------------------------

const opened = async (show) => {
  if (told || !byId("display").open || !(await look(show))) return;
  byId("proposals").replaceChildren(...told.proposals.map((line) => proposal(line, (chosen) => choose(chosen, true))));
  fill();
  drawFound();
};

// Offer the panel for a picture that is shown so; samples are read when somebody opens it.
export const begin = (picture, show, onChoice) => {
  name = picture;
  apply = onChoice;
  byId("display").hidden = false;
  byId("display").addEventListener("toggle", () => opened(show));
  byId("display").open = Boolean(askedDisplay());
};

byId("bands-mode").addEventListener("change", () => drawBands(shownSelects().map((select) => select.value)));
byId("stretch").addEventListener("change", () => drawNumbers([]));
byId("palette").addEventListener("change", () => { byId("mixing").disabled = byId("palette").checked; });
byId("display-form").addEventListener("change", () => choose(compose(), false));
byId("display-form").addEventListener("submit", (event) => event.preventDefault());
byId("as-declared").addEventListener("click", () => choose("", true));
byId("copy").addEventListener("click", async () => {
  const line = byId("line");
  try {
    await navigator.clipboard.writeText(line.value);
  } catch { // no clipboard is given to pages of other machines without TLS
    line.select();
    document.execCommand("copy");
  }
  byId("copied").textContent = "Copied.";
});
