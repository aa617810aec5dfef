// A report, brought with the key that this tab keeps. It takes the place of this page, whose address can be sent.

import { here } from "./parts.js";
import { ask, attempt, crumbs, say } from "./shell.js";

const id = here[1];

crumbs(["/", "Jobs"], [`/jobs/${encodeURIComponent(id)}`, id], ["", "Report"]);
say("reading the report");
attempt(async () => {
  const text = await (await ask(`/v1/jobs/${encodeURIComponent(id)}/report?format=html`)).text();
  document.open();
  document.write(text);
  document.close();
});
