// One job, live: how far it is, what it asks, what failed and what helps, and what can be done with it.

import { ago, byId, card, cellName, clock, confirmed, el, facts, fromRoot, hasEnded, here, jobTitle, link, moment, planName, progress, reportAddress, section, share, some, spaced, span, status, table, whole } from "./parts.js";
import { ask, attempt, crumbs, download, eventsOf, get, Refusal, repeat, say, show, title } from "./shell.js";

const id = here[1];
const route = `/v1/jobs/${encodeURIComponent(id)}`;
const READ_AT_ONCE = 20000; // of more requests the report is read when somebody wants it
let job = null;
let isLabelled = false; // by people, in files from which its report is made

// --- what can be done -----------------------------------------------------------------------------------------------

const tell = async (words, path, options) => {
  say(words);
  await ask(path, options);
};
const refresh = () => {
  shown = "";
  again();
};
const cancel = () => attempt(async () => {
  if (!(await confirmed(`Cancel ${id}? What is recorded stays; what waits is dropped.`, "Cancel the job"))) return;
  await tell("cancelling", `${route}/cancel`, { method: "POST" });
  refresh();
});
const retry = () => attempt(async () => {
  await tell("asking the failed requests again", `${route}/retry`, { method: "POST" });
  refresh();
});
const remove = () => attempt(async () => {
  if (!(await confirmed(`Delete ${id} with all its ${whole(job.request_counts.completed)} answers? Nothing brings them back.`, "Delete the job"))) return;
  await tell("deleting", route, { method: "DELETE" });
  location.assign(fromRoot("/"));
});

const actions = () => {
  const { completed, failed } = job.request_counts;
  return el("div", { class: "actions" },
    completed ? link(reportAddress(id), "Report", { class: "button", id: "report" }) : null,
    completed && isLabelled ? link(`/jobs/${encodeURIComponent(id)}/label`, "Label its responses", { id: "label" }) : null,
    hasEnded(job) ? null : el("button", { type: "button", id: "cancel", onclick: cancel, disabled: job.status === "cancelling" }, "Cancel"),
    job.status === "completed" && failed ? el("button", { type: "button", id: "retry", onclick: retry }, `Retry ${some(failed, "failed request")}`) : null,
    hasEnded(job) ? el("button", { type: "button", id: "delete", class: "danger", onclick: remove }, "Delete") : null);
};

// --- what is told ---------------------------------------------------------------------------------------------------

const counted = () => {
  const { total, completed, failed } = job.request_counts;
  const { usage } = job;
  return el("div", { class: "cards" },
    card("Requests", whole(completed + failed), `of ${whole(total)}, `, failed ? el("span", { class: "failed" }, `${whole(failed)} failed`) : "none failed"),
    card("Time", job.in_progress_at ? span(((job.finished_at ? Date.parse(job.finished_at) : Date.now()) - Date.parse(job.in_progress_at)) / 1000) : "–", job.remaining_seconds ? `${span(job.remaining_seconds)} left` : hasEnded(job) ? "from begin to end" : "so far"),
    card("Tokens read", whole(usage.prompt_tokens), usage.prompt_tokens ? `${share(usage.cached_tokens / usage.prompt_tokens)} from the prefix cache` : ""),
    card("Tokens written", whole(usage.completion_tokens), usage.completion_tokens && completed ? `${whole(usage.completion_tokens / completed)} an answer` : ""),
    card("Pictures", whole(usage.views), `shown, ${whole(usage.rasters)} different`),
    usage.microdollars ? card("Cost", `$${(usage.microdollars / 1e6).toFixed(2)}`, "by the catalogue's prices") : null);
};

const listed = (items, address) => items.flatMap((item, at) => [at ? ", " : "", link(address(item), item)]);
const settings = (found) => Object.entries(found).map(([name, value]) => `${name} ${value}`).join(", ");

const asked = () => {
  const { spec } = job;
  return facts([
    ["Data set", link(`/datasets/${encodeURIComponent(spec.dataset)}`, spec.dataset)],
    ["Models", el("span", {}, listed(spec.models, (model) => `/models#${encodeURIComponent(model)}`))],
    ["Plan", planName(spec)],
    ["Cells", el("span", { id: "cells" }, cells)],
    ["Judges", spec.judge ? el("span", {}, listed(spec.judge.jobs, (other) => `/jobs/${encodeURIComponent(other)}`)) : null],
    ["Samples", spec.samples.length ? `${whole(spec.samples.length)} named ones` : "all"],
    ["Repeats", spec.repeats > 1 ? String(spec.repeats) : null],
    ["Seed", String(spec.seed)],
    ["Sampling", settings(spec.sampling)],
    ["Options", settings(spec.options)],
    ["Closing turn", spec.closing],
    ["Priority", spec.priority],
    ["Labels", settings(spec.metadata)],
    ["Owner", job.owner],
    ["Created", `${moment(job.created_at)}, ${ago(job.created_at)}`],
    ["Ended", job.finished_at ? moment(job.finished_at) : null],
    ["Deleted at", job.expires_at ? moment(job.expires_at) : null],
  ]);
};

const failures = () => {
  const kinds = Object.entries(job.failures).sort((one, other) => other[1] - one[1]);
  const results = download(`${route}/results?status=failed`, `${id}-failed.ndjson`, "what each of them says (NDJSON)");
  return kinds.length ? section("Failed requests",
    table("Failed requests by reason", [["reason"], ["requests", "number"], ["what helps"]], kinds.map(([kind, number]) => [el("code", {}, kind), whole(number), job.remedies[kind] ?? "see what each of them says"])),
    el("p", {}, job.retryable ? `${whole(job.retryable)} of them may be answered when they are asked again. ` : "", results)) : null;
};

const problems = () => [...job.errors.map((text) => ["failed", text]), ...job.warnings.map((text) => ["warn", text])].map(([kind, text]) => el("p", { class: kind }, text));

const files = () => section("Files", el("ul", { class: "links" }, [
  download(`${route}/report?format=md`, `${id}.md`, "report.md"),
  download(`${route}/report?format=csv`, `${id}.csv`, "report.csv"),
  download(`${route}/report?format=tex`, `${id}.tex`, "report.tex"),
  download(`${route}/verdicts?format=csv`, `${id}-verdicts.csv`, "verdicts.csv"),
  download(`${route}/verdicts?format=parquet`, `${id}-verdicts.parquet`, "verdicts.parquet"),
  download(`${route}/results`, `${id}.ndjson`, "responses.ndjson"),
].map((one) => el("li", {}, one))));

// --- what the report says of it -------------------------------------------------------------------------------------

const PHASES = { queued: "waiting", rendering: "for pictures", prefill: "reading the prompt", decode: "writing the answer" };
const valueOf = (value, { unit, decimals }) => {
  const number = value?.value ?? (typeof value === "number" ? value : null);
  if (number === null) return typeof value === "string" && value ? value : "–";
  return unit === "number" ? number.toFixed(decimals) : `${unit === "difference" && number > 0 ? "+" : ""}${(100 * number).toFixed(decimals)}`;
};
const resultOf = ({ tables, work }) => {
  const first = tables.find((one) => one.rows.length && !one.detail);
  const columns = first ? first.groups.flatMap((group) => group.columns.map((column) => ({ ...column, group: group.title }))) : [];
  const medians = Object.entries(PHASES).map(([name, words]) => [words, work.medians?.[name]]).filter(([, seconds]) => seconds >= 0.0005);
  return [
    first ? section(first.title, table(first.title, [[""], ...columns.map((column) => [[column.group, column.title].filter(Boolean).join(", "), "number"])],
      first.rows.map((row) => [row.title, ...row.values.map((value, at) => valueOf(value, columns[at]))])), el("p", { class: "soft" }, first.caption)) : null,
    medians.length ? section("Time of a request", el("p", { class: "soft" }, "Medians over all requests, which run side by side."),
      el("div", { class: "cards" }, medians.map(([words, seconds]) => card(words, span(seconds))))) : null,
  ];
};

let reported = "";
const readReport = async () => {
  const place = byId("result");
  place.replaceChildren(el("p", { class: "soft" }, "Reading the result."));
  try {
    place.replaceChildren(...resultOf(await get(`${route}/report`)).filter(Boolean));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    place.replaceChildren(el("p", { class: "failed" }, error.message));
  }
};
const offerReport = () => {
  const { completed, failed } = job.request_counts;
  const state = `${job.status} ${completed} ${failed}`;
  if (!hasEnded(job) || !completed || reported === state) return;
  reported = state;
  if (completed <= READ_AT_ONCE) readReport();
  else byId("result").replaceChildren(el("button", { type: "button", onclick: readReport }, "Show the result and the time of a request"));
};

// --- events ---------------------------------------------------------------------------------------------------------

const eventLine = (text) => {
  const fields = Object.fromEntries(text.split(/\r?\n/).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  if (!fields.data || !fields.id) return null;
  const told = JSON.parse(fields.data);
  const { total, completed, failed } = told.request_counts ?? told;
  return el("li", {}, clock(new Date(Number(fields.id.split("-")[0]))), " ", spaced(fields.event === "status" ? told.status : "progress"),
    total ? `: ${whole((completed ?? 0) + (failed ?? 0))} of ${whole(total)}${failed ? `, ${whole(failed)} failed` : ""}` : "");
};

const followEvents = async (list) => {
  for await (const event of eventsOf(`${route}/events`)) list.prepend(eventLine(event) ?? "");
};

const events = () => {
  const list = el("ol", { class: "events", tabindex: 0, "aria-label": "Events, newest first" });
  const fold = el("details", {}, el("summary", {}, "Events"), list);
  fold.addEventListener("toggle", () => attempt(() => followEvents(list)), { once: true });
  return fold;
};

// --- live -----------------------------------------------------------------------------------------------------------

let cells = "";
const nameCells = async () => {
  const { spec } = job;
  if (spec.judge) return;
  if (spec.cells.length) cells = spec.cells.map(cellName).join(", ");
  else {
    const known = (await get("/v1/datasets")).data.find((one) => one.name === spec.dataset);
    const plans = known ? (await get(`/v1/plans?benchmark=${encodeURIComponent(known.benchmark)}`)).data : [];
    cells = (plans.find((plan) => !spec.plan || plan.name === spec.plan)?.cells ?? []).map(cellName).join(", ");
  }
  byId("cells").textContent = cells;
};

const askForLabels = async () => {
  if (job.spec.judge) return;
  isLabelled = (await get(`${route}/labels`)).kinds.length > 0;
  if (isLabelled) refresh();
};

let shown = "";
const look = async () => {
  const text = JSON.stringify(await get(route));
  const isFirst = !job;
  const state = `${Math.floor(Date.now() / 30000)} ${text}`;
  if (state === shown) return false;
  shown = state;
  job = JSON.parse(text);
  if (isFirst) {
    title(jobTitle(job.spec));
    show(el("div", { id: "job" }), el("div", { id: "result" }), section("What it asks", el("div", { id: "asked" })), files(), events());
  }
  const focused = document.activeElement?.id;
  byId("job").replaceChildren(
    el("p", {}, status(job.status), " ", progress(job.request_counts)), actions(), ...problems(), counted(), ...[failures()].filter(Boolean));
  byId("asked").replaceChildren(asked());
  if (isFirst) {
    attempt(nameCells);
    attempt(askForLabels);
  }
  if (focused) byId(focused)?.focus();
  say(hasEnded(job) ? `ended ${job.finished_at ? ago(job.finished_at) : ""}` : "is under way");
  offerReport();
  return hasEnded(job);
};

crumbs(["/", "Jobs"], ["", id]);
const again = repeat(look);
