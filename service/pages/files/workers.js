// Who serves which model now.

import { ago, byId, el, link, share, some, table, whole } from "./parts.js";
import { get, repeat, say, show } from "./shell.js";

const phase = (worker) => {
  if (!worker.phase) return worker.state;
  const { name, done_bytes: done, total_bytes: total } = worker.phase;
  return `${worker.state}: ${name}${total ? `, ${share(done / total)}` : ""}`;
};
const busy = ({ engine_seconds: seconds }) => {
  const all = Object.values(seconds).reduce((sum, one) => sum + one, 0);
  return all ? share((seconds.busy ?? 0) / all) : "–";
};
const engine = ({ engine: one }) => (one ? `${one.name} ${one.version}${one.simulated ? " (simulated: answers nothing real)" : ""}` : "–");
const models = (worker) => el("span", {}, worker.models.flatMap((model, at) => [at ? ", " : "", link(`/models#${encodeURIComponent(model)}`, model), model === worker.loaded && worker.models.length > 1 ? " (loaded)" : ""]));

const draw = (workers) => {
  const ready = workers.filter((one) => one.state === "ready").length;
  say(workers.length ? `${some(workers.length, "worker")}, ${whole(ready)} ready` : "no worker announces itself");
  byId("workers").replaceChildren(workers.length
    ? table("Workers", [["worker", "name"], ["state", "name"], ["models"], ["plays", "number"], ["holds", "number"], ["busy", "number"], ["device", "name"], ["engine"], ["since", "name"]],
      workers.map((one) => [one.worker, phase(one), models(one), whole(one.running), whole(one.running + one.waiting), busy(one), one.device, engine(one), ago(one.since)]))
    : el("div", { class: "next" }, "Jobs wait until somebody serves their models: ", el("code", {}, "gigavqa up --model MODEL"), " starts a worker; ", link("/models", "models"), " says which there are."));
};

let shown = "";
show(el("div", { id: "workers" }));
repeat(async () => {
  const text = JSON.stringify((await get("/v1/workers")).data);
  const state = `${Math.floor(Date.now() / 30000)} ${text}`;
  if (state !== shown) draw(JSON.parse(text));
  shown = state;
});
