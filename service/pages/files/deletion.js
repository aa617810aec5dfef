// A data set is deleted from its page, once somebody has read what that costs.

import { byId, bytes, confirmed, el, fromRoot, link, section, some } from "./parts.js";
import { ask, get, lacks, Refusal, tell } from "./shell.js";

const cost = ({ files, bytes: size, ended_jobs: jobs }) => [
  `${some(files, "file")} of ${bytes(size)} are deleted, pictures and questions; pictures that are only linked stay where they lie.`,
  jobs ? `${some(jobs, "job")} over it ${jobs === 1 ? "keeps its" : "keep their"} answers, but no report and no verdicts can be made of ${jobs === 1 ? "it" : "them"} any more.` : "No job is over it.",
  "Nothing brings it back.",
].join(" ");

const remove = async (name) => {
  const route = `/v1/datasets/${encodeURIComponent(name)}`;
  tell("deleted", "what it would cost is being counted");
  const stakes = await get(`${route}/stakes`);
  if (stakes.open_jobs) throw new Refusal(409, `${some(stakes.open_jobs, "job")} over it ${stakes.open_jobs === 1 ? "has" : "have"} not ended: cancel ${stakes.open_jobs === 1 ? "it" : "them"}, or wait.`);
  if (!(await confirmed(`Delete the data set ${name}? ${cost(stakes)}`, "Delete the data set"))) {
    tell("deleted", "");
    return;
  }
  tell("deleted", "deleting");
  await ask(route, { method: "DELETE" });
  location.assign(fromRoot("/datasets"));
};

// Draw it where the page has a place for it; a key that is too little is told why.
export const drawDeletion = async (name) => {
  const lacking = await lacks("operate");
  const button = el("button", { type: "button", id: "delete", class: "danger", disabled: Boolean(lacking), onclick: () => {
    button.disabled = true;
    remove(name).catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      tell("deleted", error.message);
    }).finally(() => { button.disabled = false; });
  } }, "Delete the data set");
  byId("deletion").replaceChildren(section("Deletion",
    el("p", { class: "soft" }, "It is asked once more, with what it costs; ", link(`/?dataset=${encodeURIComponent(name)}`, "jobs over it"), " must have ended."),
    button, el("p", { id: "deleted", role: "status" }, lacking)));
};
