// What happens when: keys, clicks, the form, and the address with its history.

let samplesShown = [];

const redraw = () => {
  samplesShown = found();
  drawMatrix(samplesShown);
  drawSample(samplesShown);
  markOpen();
};

// Another sample is a step that the back button undoes; another filter or response of the same sample is none.
const remember = (isStep) => {
  const address = addressOf(state);
  if (address === (location.hash || "#")) return;
  history[isStep ? "pushState" : "replaceState"](null, "", address === "#" ? location.pathname + location.search : address);
};

const reveal = () => {
  const place = byId("open");
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
};

const open = (sample, at = "") => {
  const isStep = sample !== state.sample;
  Object.assign(state, { sample, at });
  drawSample(samplesShown);
  markOpen();
  remember(isStep);
  if (isStep && sample) reveal();
};

// The response that stays open when another sample is opened: the one that was asked in the same way.
const alike = (sample) => SAMPLES.get(sample)?.responses.some((one) => placeOf(one) === state.at) ? state.at : "";
const go = (sample) => open(sample, sample ? alike(sample) : "");

const follow = () => {
  if (location.hash && !location.hash.includes("=")) return; // a section's heading
  const read = stateOf(location.hash);
  const isOther = read.sample !== state.sample;
  state = read;
  drawFilters();
  redraw();
  if (isOther && state.sample) reveal();
};

const onClick = (event) => {
  const button = event.target.closest("button, a");
  if (!button) return;
  if (button.response) {
    event.preventDefault();
    const row = button.closest("[data-sample]");
    open(row ? row.dataset.sample : state.sample, placeOf(button.response));
    if (row) reveal();
  } else if ("go" in button.dataset) {
    go(button.dataset.go);
    if ("close" in button.dataset) byId("samples").scrollIntoView();
  }
};

const onKey = (event) => {
  if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = samplesShown.findIndex((sample) => sample.id === state.sample);
  if (event.key === "j" || event.key === "k") {
    const next = samplesShown[event.key === "j" ? at + 1 : at - 1];
    if (next) go(next.id);
  } else if (event.key === "Escape" && state.sample) go("");
};

const onForm = (event) => {
  readFilters();
  const button = event.target.closest("button");
  if (event.type === "click" && !button) return;
  if (button?.id === "more") state.where.push({});
  if (button?.dataset.remove) state.where.splice(Number(button.dataset.remove), 1);
  if (button && button.type === "button") drawFilters();
  redraw();
  remember(false);
};

const begin = () => {
  const form = byId("filters");
  form.addEventListener("input", onForm);
  form.addEventListener("click", (event) => { if (event.target.closest("button[type=button]")) onForm(event); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    state = { ...emptyState(), sample: state.sample, at: state.at };
    drawFilters();
    redraw();
    remember(false);
  });
  byId("matrix").addEventListener("click", onClick);
  byId("matrix").addEventListener("keydown", walk);
  byId("open").addEventListener("click", onClick);
  for (const type of ["mouseover", "focusin"]) byId("open").addEventListener(type, (event) => {
    const part = event.target.closest("tr[data-part]")?.dataset.part;
    for (const box of document.querySelectorAll("rect[data-part]")) box.classList.toggle("pointed", box.dataset.part === part);
  });
  addEventListener("keydown", onKey);
  addEventListener("popstate", follow);
  if (location.hash.includes("=")) follow();
  else {
    drawFilters();
    redraw();
  }
};

document.addEventListener("change", (event) => {
  if (!event.target.dataset.layer) return;
  layers[event.target.dataset.layer] = event.target.checked;
  showLayers();
});
byId("enlarged").addEventListener("click", (event) => {
  if (event.target === event.currentTarget || "close" in event.target.dataset) event.currentTarget.close();
});
// A warning is not folded away on paper; tables of details are printed when they are open.
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll(".warnings details")) fold.open = true; });
if (byId("filters")) begin();
