// The matrix: a line a sample, a column a cell, a mark a response.

const MOST_MARKS = 4; // repeats of one cell that are drawn one by one

const runs = (cells, key) => {
  const found = [];
  for (const cell of cells) {
    if (found.length && found.at(-1).key === key(cell)) found.at(-1).span += 1;
    else found.push({ key: key(cell), cell, span: 1 });
  }
  return found;
};
const isFirst = (cells, at) => at === 0 || cells[at - 1].model !== cells[at].model;

const HAS_ROUNDS = CELLS.some((cell) => cell.rounds);
const HEAD_LINES = HAS_ROUNDS ? 4 : 3;
const headOf = (cells) => el("thead", {},
  el("tr", { class: "models" }, el("th", { scope: "col", rowspan: HEAD_LINES, class: "corner" }, "Sample"),
    runs(cells, (cell) => cell.model).map((run) => el("th", { scope: "colgroup", colspan: run.span, class: "first", title: run.cell.model }, el("span", {}, run.cell.title))),
    el("th", { scope: "col", rowspan: HEAD_LINES, class: "first share" }, "% right")),
  el("tr", { class: "protocols" }, runs(cells, (cell) => `${cell.model} ${cell.protocol}`).map((run) =>
    el("th", { scope: "colgroup", colspan: run.span, class: isFirst(cells, cells.indexOf(run.cell)) ? "first" : null }, el("span", {}, run.cell.protocol)))),
  el("tr", { class: "conditions" }, cells.map((cell, at) => el("th", { scope: "col", class: isFirst(cells, at) ? "first" : null }, cell.condition))),
  HAS_ROUNDS ? el("tr", { class: "rounds", title: "most answers of a chat" }, cells.map((cell, at) => el("th", { scope: "col", class: isFirst(cells, at) ? "first" : null }, cell.rounds))) : null);

const buttonOf = (sample, response) => {
  const name = nameOf(CELLS[response.cell]);
  const repeat = response.repeat ? `, repeat ${response.repeat}` : "";
  const button = el("button", {
    type: "button", class: `mark${isCut(response) ? " cut" : ""}`, tabindex: -1, title: `${sample.id}, ${name}${repeat}: ${verdictOf(response)}`,
  }, mark(response));
  button.response = response;
  return button;
};

const marksOf = (sample, cell) => {
  const responses = sample.byCell.get(cell.index) ?? [];
  if (responses.length <= MOST_MARKS) return responses.map((response) => buttonOf(sample, response));
  const right = responses.filter((response) => response.outcome === "right").length;
  const button = buttonOf(sample, responses[0]);
  button.classList.add("many");
  button.replaceChildren(`${right}/${responses.length}`);
  return button;
};

const rowOf = (sample, cells) => {
  const share = shareRight(responsesIn(sample, cells));
  return el("tr", { "data-sample": sample.id },
    el("th", { scope: "row" }, el("a", { href: addressOf({ ...state, sample: sample.id, at: "" }), title: textOf(sample.question) }, sample.id),
      el("small", {}, Object.values(sample.groups).filter(Boolean).map(spaced).join(" · "))),
    cells.map((cell, at) => el("td", { class: isFirst(cells, at) ? "first" : null }, marksOf(sample, cell))),
    el("td", { class: "first share" }, share === null ? "–" : Math.round(100 * share)));
};

const footOf = (samples, cells) => el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "right, in % of these"),
  cells.map((cell, at) => {
    const share = shareRight(samples.flatMap((sample) => sample.byCell.get(cell.index) ?? []));
    return el("td", { class: isFirst(cells, at) ? "first" : null }, share === null ? "–" : Math.round(100 * share));
  }), el("td", { class: "first" })));

const drawMatrix = (samples) => {
  const cells = shownCells();
  const table = el("table", {}, headOf(cells), el("tbody", {}, samples.map((sample) => rowOf(sample, cells))), footOf(samples, cells));
  table.querySelector("tbody button")?.setAttribute("tabindex", 0);
  byId("matrix").replaceChildren(table);
  byId("matrix").hidden = !samples.length;
  byId("nothing").hidden = samples.length > 0;
  const answers = samples.reduce((sum, sample) => sum + responsesIn(sample, cells).length, 0);
  byId("shown").textContent = `${samples.length} of ${plural(DATA.samples.length, "sample")}, ${plural(answers, "response")}`;
};

const markOpen = () => {
  for (const row of byId("matrix").querySelectorAll("tbody tr")) {
    const isOpen = row.dataset.sample === state.sample;
    row.classList.toggle("open", isOpen);
    for (const button of row.querySelectorAll("button.mark")) button.classList.toggle("open", isOpen && placeOf(button.response) === state.at);
  }
};

// Arrow keys walk the marks; one of them can be reached with Tab.
const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const walk = (event) => {
  const from = event.target.closest("button.mark");
  const step = WAYS[event.key];
  if (!from || !step) return;
  event.preventDefault();
  const rows = [...byId("matrix").querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("button.mark")]);
  const at = rows.findIndex((row) => row.includes(from));
  const column = rows[at].indexOf(from) + step[1];
  const next = step[0] ? rows[at + step[0]]?.find((button) => button.response.cell >= from.response.cell) : rows[at][column];
  if (!next) return;
  from.setAttribute("tabindex", -1);
  next.setAttribute("tabindex", 0);
  next.focus();
};
