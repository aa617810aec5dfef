// A report, brought with the key that this tab keeps. It takes the place of this page, whose address can be sent.

import { ask, attempt, crumbs, say } from "./shell.js";

const id = decodeURIComponent(location.pathname.split("/")[2]);

crumbs(["/", "Jobs"], [`/jobs/${encodeURIComponent(id)}`, id], ["", "Report"]);
say("reading the report");
attempt(async () => {
  const text = await (await ask(`/v1/jobs/${encodeURIComponent(id)}/report?format=html`)).text();
  document.open();
  document.write(text);
  document.close();
});
