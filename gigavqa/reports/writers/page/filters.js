// Which samples are shown, in which order: state, its address, and the form that sets it.

const emptyState = () => ({ search: "", groups: {}, show: {}, where: [], sort: "id", sample: "", at: "" });
let state = emptyState();

const LEVELS = unique(DATA.samples.flatMap((sample) => Object.keys(sample.groups)))
  .map((level) => [level, unique(DATA.samples.map((sample) => sample.groups[level] ?? "")).filter(Boolean).sort()])
  .filter(([, names]) => names.length > 1);
const SORTS = { id: "by id", disagreement: "most disagreement first", worst: "fewest right first", best: "most right first" };

// --- address -------------------------------------------------------------------------------------------------------

const addressOf = (from) => {
  const fields = new URLSearchParams();
  if (from.search) fields.set("search", from.search);
  for (const [level, name] of Object.entries(from.groups)) if (name) fields.set(`in.${level}`, name);
  for (const axis of AXES) if (from.show[axis]) fields.set(axis, from.show[axis]);
  for (const clause of from.where) if (clause.is) fields.append("where", [clause.model ?? "", clause.protocol ?? "", [clause.condition, clause.rounds].filter(Boolean).join(" "), clause.is].join("|"));
  if (from.sort !== "id") fields.set("sort", from.sort);
  if (from.sample) fields.set("sample", from.sample);
  if (from.sample && from.at) fields.set("at", from.at);
  return `#${fields}`;
};

const stateOf = (address) => {
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const read = emptyState();
  for (const [name, value] of fields) {
    if (name.startsWith("in.")) read.groups[name.slice(3)] = value;
    else if (AXES.includes(name)) read.show[name] = value;
    else if (name === "where") {
      const parts = value.split("|");
      const [shown, rounds] = [/^(.*?) ?(n\d+)?$/.exec(parts[2] ?? "")].flatMap((match) => [match?.[1] ?? "", match?.[2] ?? ""]);
      read.where.push({ model: parts[0], protocol: parts[1], condition: shown, rounds, is: parts.slice(3).join("|") });
    } else if (name === "sort" && Object.hasOwn(SORTS, value)) read.sort = value;
    else if (name === "search" || name === "sample" || name === "at") read[name] = value;
  }
  return read;
};

// --- what fits -----------------------------------------------------------------------------------------------------

const shownCells = () => CELLS.filter((cell) => AXES.every((axis) => !state.show[axis] || cell[axis] === state.show[axis]));

const fitsSearch = (sample, words) => {
  sample.searched ??= [sample.id, textOf(sample.question), ...Object.values(sample.options ?? {}),
    ...sample.responses.flatMap((one) => [textOf(one.text), textOf(one.thought), ...(one.rounds ?? []).map((round) => textOf(round.thought))])].join("\n").toLowerCase();
  return words.every((word) => sample.searched.includes(word));
};

const is = (response, what) => {
  const [kind, name, value] = what.split("=");
  if (kind === "not") return response.outcome !== name;
  if (kind === "cut") return isCut(response);
  if (kind === "tag") return response.tags[name] === value;
  if (kind === "part") return response.parts.some((part) => !part.right && (!name || part.tags[name] === value));
  return response.outcome === what;
};

// What a clause leaves open is the same in all of them: "V2 wrong, V3 right" compares one model under one protocol.
const fitsClauses = (sample, cells, clauses) => {
  if (!clauses.length) return true;
  // A chat without rounds is compared with one that has some, whatever their limit.
  const fits = (cell, axis, clause, open) => cell[axis] === (clause[axis] || open[axis]) || (axis === "rounds" && !clause.rounds && !(cell.rounds && open.rounds));
  const cellsOf = (clause, open) => CELLS.filter((cell) => AXES.every((axis) => fits(cell, axis, clause, open)));
  return cells.some((open) => sample.byCell.has(open.index) && clauses.every((clause) =>
    cellsOf(clause, open).some((cell) => sample.byCell.get(cell.index)?.some((response) => is(response, clause.is)))));
};

const responsesIn = (sample, cells) => cells.flatMap((cell) => sample.byCell.get(cell.index) ?? []);

// Entropy of the outcomes in bits: 0 where all agree.
const disagreement = (responses) => {
  const counts = new Map();
  for (const one of responses) counts.set(one.outcome, (counts.get(one.outcome) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - count / responses.length * Math.log2(count / responses.length), 0);
};
const shareRight = (responses) => {
  const scored = responses.filter((one) => one.outcome !== "unscored" && one.outcome !== "failed");
  return scored.length ? scored.filter((one) => one.outcome === "right").length / scored.length : null;
};

const found = () => {
  const cells = shownCells();
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const clauses = state.where.filter((clause) => clause.is);
  const fitting = DATA.samples.filter((sample) =>
    Object.entries(state.groups).every(([level, name]) => !name || sample.groups[level] === name)
    && fitsSearch(sample, words) && responsesIn(sample, cells).length && fitsClauses(sample, cells, clauses));
  if (state.sort === "id") return fitting;
  const keys = new Map(fitting.map((sample) => {
    const responses = responsesIn(sample, cells);
    if (state.sort === "disagreement") return [sample, -disagreement(responses)];
    const share = shareRight(responses) ?? 2;
    return [sample, state.sort === "worst" || share > 1 ? share : -share];
  }));
  return fitting.sort((one, other) => keys.get(one) - keys.get(other));
};

// --- form ----------------------------------------------------------------------------------------------------------

const choice = (attributes, options, chosen) => el("select", attributes, options.map(([value, title]) =>
  Array.isArray(title)
    ? el("optgroup", { label: value }, title.map(([inner, words]) => el("option", { value: inner, selected: inner === chosen }, words)))
    : el("option", { value, selected: value === chosen }, title)));
const labelled = (title, control) => el("label", {}, title[0].toUpperCase() + title.slice(1), control);
const isChoice = (axis) => valuesOf(axis).length > 1;
const namesOf = (axis) => valuesOf(axis).filter(Boolean).map((value) => [value, axis === "model" ? DATA.titles[value] : value]);

const TAGS = {};
const PART_TAGS = {};
for (const response of DATA.samples.flatMap((sample) => sample.responses)) {
  for (const [name, value] of Object.entries(response.tags)) (TAGS[name] ??= new Set()).add(value);
  for (const part of response.parts) for (const [name, value] of Object.entries(part.tags)) (PART_TAGS[name] ??= new Set()).add(value);
}
const IS = [
  ["", "…"], ...Object.entries(OUTCOMES), ["not=right", "not right"], ["cut", "cut off"],
  ...Object.entries(TAGS).map(([name, values]) => [spaced(name), [...values].sort().map((value) => [`tag=${name}=${value}`, `${spaced(name)} ${spaced(value)}`])]),
  ...(Object.keys(PART_TAGS).length ? [["part", "a part is wrong"]] : []),
  ...Object.entries(PART_TAGS).map(([name, values]) => [`a part is wrong: ${spaced(name)}`, [...values].sort().map((value) => [`part=${name}=${value}`, `wrong part: ${spaced(value)}`])]),
];

const clauseRow = (clause, index) => el("fieldset", { class: "clause", "data-clause": index },
  el("span", {}, index ? "and" : "where"),
  AXES.filter(isChoice).map((axis) => choice(
    { name: axis, "aria-label": `${axis} of the response` }, [["", index ? `same ${axis}` : `any ${axis}`], ...namesOf(axis)], clause[axis] ?? "")),
  el("span", {}, "is"),
  choice({ name: "is", "aria-label": "what became of it" }, IS, clause.is ?? ""),
  index ? el("button", { type: "button", "data-remove": index, "aria-label": "Remove this condition" }, "×") : null);

const drawFilters = () => {
  const clauses = state.where.length ? state.where : [{}];
  byId("filters").replaceChildren(
    labelled("Search", el("input", { type: "search", name: "search", value: state.search, placeholder: "id, question, answers" })),
    ...LEVELS.map(([level, names]) => labelled(spaced(level), choice({ name: `in.${level}` }, [["", "all"], ...names.map((name) => [name, spaced(name)])], state.groups[level] ?? ""))),
    labelled("Order", choice({ name: "sort" }, Object.entries(SORTS), state.sort)),
    ...AXES.filter(isChoice).map((axis) =>
      labelled(`Show ${axis}`, choice({ name: `show.${axis}` }, [["", "all"], ...namesOf(axis)], state.show[axis] ?? ""))),
    el("div", { class: "clauses" }, clauses.map(clauseRow),
      el("button", { type: "button", id: "more" }, "and …"), el("button", { type: "reset" }, "Clear all")),
  );
};

const readFilters = () => {
  const form = byId("filters");
  for (const control of form.querySelectorAll("label > [name]")) {
    if (control.name.startsWith("in.")) state.groups[control.name.slice(3)] = control.value;
    else if (control.name.startsWith("show.")) state.show[control.name.slice(5)] = control.value;
    else state[control.name] = control.value;
  }
  state.where = [...form.querySelectorAll(".clause")].map((row) =>
    Object.fromEntries([...row.querySelectorAll("select")].map((control) => [control.name, control.value])));
};
