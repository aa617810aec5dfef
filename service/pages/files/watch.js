// Is it well? The installation's concerns, what it does now, and its last hour.

import { byId, bytes, card, clock, el, link, section, share, short, span, table, whole } from "./parts.js";
import { colour, get, onColours, Refusal, repeat, say, show } from "./shell.js";

const last = (column) => (column && column.length ? column[column.length - 1] : null);
const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);

const concernOf = ({ severity, says, alert }) => el("li", { class: severity }, `${severity === "page" ? "Now: " : ""}${says}`,
  alert ? [" ", link(`/watch/runbook#${alert}`, "what to do")] : null);

const headline = ({ well, idle, concerns }) => {
  if (!well) return concerns.length === 1 ? "One thing is wrong" : `${concerns.length} things are wrong`;
  return idle ? "Nothing is wrong, and no worker serves a model" : "All is well";
};

const drawVerdict = (seen) => {
  const { well, idle, concerns } = seen;
  const text = JSON.stringify([well, idle, concerns]);
  if (byId("verdict").dataset.shown === text) return; // it is read aloud when it changes
  byId("verdict").dataset.shown = text;
  byId("verdict").className = !well ? (concerns.some((one) => one.severity === "page") ? "page" : "ticket") : idle ? "" : "well";
  byId("verdict").replaceChildren(headline(seen), ...(well ? [] : [el("ul", {}, concerns.map(concernOf))]));
};

const drawCards = ({ points, models, workers, server, disks, jobs }) => {
  const ready = workers.filter((one) => one.state === "ready").length;
  const fullest = [...disks].sort((a, b) => a.free_bytes / a.total_bytes - b.free_bytes / b.total_bytes)[0];
  const oldest = models.map((one) => one.oldest_seconds).filter((age) => age !== null);
  const failed = last(points.failed), completed = last(points.completed);
  byId("cards").replaceChildren(
    card("Queue", whole(sum(models, "waiting")), `bundles wait, ${sum(models, "leased")} are held`),
    card("Oldest bundle", oldest.length ? span(Math.max(...oldest)) : "none", "that waits"),
    card("Jobs", whole((jobs.in_progress || 0) + (jobs.validating || 0)), "in progress"),
    card("Workers", `${ready} of ${workers.length}`, "are ready"),
    card("Engines busy", share(last(points.busy)), `${share(last(points.pixels))} wait for pixels`),
    card("Responses", completed === null ? "–" : `${short(completed + failed)}/s`, failed === null ? "" : `${short(failed, 2)}/s of them fail`),
    card("Server memory", server.answers ? share(server.used_bytes / server.limit_bytes) : "away", server.answers ? `${bytes(server.used_bytes)} of ${bytes(server.limit_bytes)}${server.takes_writes ? "" : "; takes no writes"}` : ""),
    card("Disk free", fullest ? share(fullest.free_bytes / fullest.total_bytes) : "–", fullest ? `${bytes(fullest.free_bytes)}, of ${fullest.place}` : ""),
  );
};

// --- the last hour --------------------------------------------------------------------------------------------------

const CHARTS = [
  { name: "Bundles that wait, and the oldest", series: [["waiting", "wait", "--accent", "n"], ["oldest", "oldest", "--second", "s"]] },
  { name: "What engines do", series: [["busy", "busy", "--good", "%"], ["pixels", "wait for pixels", "--bad", "%"], ["idle", "idle", "--soft", "%"], ["loading", "loading", "--second", "%"]] },
  { name: "Responses a second", series: [["completed", "completed", "--good", "n"], ["failed", "failed", "--bad", "n"]] },
  { name: "Memory of the state store", series: [["memory", "used", "--accent", "%"]] },
];
const shownAs = { n: (value) => short(value), s: (value) => span(value), "%": share };
let plots = [];

const boxOf = ({ name }) => el("div", { class: "card", role: "img", "data-chart": name }, el("h2", {}, name));

const plot = (box, { series }, points) => {
  const scales = [...new Set(series.map((one) => one[3]))];
  const at = (seconds) => clock(new Date(1000 * seconds));
  const options = {
    width: box.clientWidth - 30,
    height: 180,
    cursor: { drag: { x: false, y: false } },
    legend: { markers: { width: 2 } },
    scales: Object.fromEntries(scales.map((scale) => [scale, scale === "%" ? { range: [0, 1] } : { range: (_, low, high) => [0, Math.max(1, high * 1.1)] }])),
    axes: [
      { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, values: (_, ticks) => ticks.map((tick) => at(tick).slice(0, ticks.length > 1 && ticks[1] - ticks[0] < 60 ? 8 : 5)), space: 70 },
      ...scales.map((scale, number) => ({ scale, side: number ? 1 : 3, size: 58, stroke: colour("--soft"), grid: { show: !number, stroke: colour("--line"), width: 1 }, values: (_, ticks) => ticks.map(shownAs[scale]) })),
    ],
    series: [
      { label: "at", value: (_, value) => at(value ?? last(shown.points.time)) },
      ...series.map(([column, name, stroke, scale]) => ({ label: name, scale, stroke: colour(stroke), width: 2, points: { show: false }, spanGaps: false, value: (_, value, __, index) => shownAs[scale](index === null ? last(shown.points[column]) : value) })),
    ],
  };
  const columns = [points.time, ...series.map(([column]) => points[column])];
  return { box, series, made: new uPlot(options, columns, box) };
};

const drawCharts = (points) => {
  if (!plots.length) {
    const boxes = CHARTS.map(boxOf);
    byId("charts").replaceChildren(...boxes); // all of them first: how wide one is depends on how many there are
    plots = CHARTS.map((chart, at) => plot(boxes[at], chart, points));
  }
  for (const { box, series, made } of plots) {
    made.setData([points.time, ...series.map(([column]) => points[column])]);
    box.setAttribute("aria-label", `${box.dataset.chart}, the last hour; now: ${series.map(([column, name, , scale]) => `${name} ${shownAs[scale](last(points[column]))}`).join(", ")}`);
  }
};

const drawAnew = () => {
  for (const { made } of plots) made.destroy();
  plots = [];
  if (shown) drawCharts(shown.points);
};

// --- tables ---------------------------------------------------------------------------------------------------------

const n = "number";
const drawTables = ({ models, workers }) => {
  byId("models").replaceChildren(table("Models", [["model", "name"], ["wait", n], ["held", n], ["oldest", n], ["workers", n], ["answered", n], ["failed", n]],
    models.map((one) => [link(`/?model=${encodeURIComponent(one.model)}`, one.model), whole(one.waiting), whole(one.leased), span(one.oldest_seconds), `${one.workers}`, whole(one.completed), whole(one.failed)])));
  byId("workers").replaceChildren(table("Workers", [["worker", "name"], ["state", "name"], ["model", "name"], ["plays", n], ["holds", n], ["device", "name"]],
    workers.map((one) => [one.worker, one.phase ? `${one.state}: ${one.phase.name}` : one.state, one.loaded || one.models.join(", "), `${one.running}`, `${one.running + one.waiting}`, one.device])));
};

let shown = null;
const look = async () => {
  try {
    shown = await get("/v1/watch");
  } catch (error) {
    if (!(error instanceof Refusal) || error.status) throw error;
    drawVerdict({ well: false, concerns: [{ severity: "page", says: "The gateway does not answer; trying again.", alert: "GigavqaGatewayDown" }] });
    return;
  }
  drawVerdict(shown);
  drawCards(shown);
  drawCharts(shown.points);
  drawTables(shown);
  say(`as of ${clock(new Date(1000 * (last(shown.points.time) || 0)))}`);
};

show(
  el("section", { id: "verdict", "aria-live": "polite", "aria-label": "Verdict" }, "…"),
  el("section", { id: "cards", class: "cards", "aria-label": "Now" }),
  el("section", { id: "charts", class: "charts", "aria-label": "The last hour" }),
  section("Models", el("div", { id: "models" })),
  section("Workers", el("div", { id: "workers" })));
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  drawAnew();
});
onColours(drawAnew);
repeat(look);
