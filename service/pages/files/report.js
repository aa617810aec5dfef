// A report over one job or several, brought with the key that this tab keeps. It takes the place of this page, whose
// address can be sent.

import { here } from "./parts.js";
import { ask, attempt, crumbs, say } from "./shell.js";

const jobs = here[0] === "jobs" ? [here[1]] : new URLSearchParams(location.search).getAll("job");
const address = jobs.length === 1
  ? `/v1/jobs/${encodeURIComponent(jobs[0])}/report?format=html`
  : `/v1/reports?${new URLSearchParams([...jobs.map((job) => ["job", job]), ["by_job", "true"], ["format", "html"]])}`;

crumbs(["/", "Jobs"], ...jobs.map((job) => [`/jobs/${encodeURIComponent(job)}`, job]), ["", "Report"]);
say(jobs.length ? "The report is being made; the first one of many answers takes a while, and is kept until others come" : "no job is named: pick some among the jobs");
if (jobs.length) attempt(async () => {
  const pieces = (await ask(address)).body.pipeThrough(new TextDecoderStream()).getReader();
  document.open();
  for (let read = await pieces.read(); !read.done; read = await pieces.read()) document.write(read.value); // each is drawn as it comes
  document.close();
});
