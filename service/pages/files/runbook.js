// What to do about each concern: the lines of docs/watching.md under the names of the alerts.

import { el } from "./parts.js";
import { attempt, crumbs, say, show } from "./shell.js";

// Text with `code`, and links, of which the words stay: other pages of the documentation are not here.
const words = (text) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));

const linesOf = (text) => {
  const alerts = text.split(/^## /m).find((part) => part.startsWith("Alerts")) ?? "";
  return alerts.split(/^### /m).slice(1).map((part) => {
    const [name, ...rest] = part.split("\n");
    return [name.trim(), rest.join("\n").trim().split(/\n\n+/)];
  });
};

crumbs(["/watch", "Watch"], ["", "Runbook"]);
attempt(async () => {
  const text = await (await fetch(new URL("watching.md", import.meta.url))).text();
  say("What each alert means, and what to do about it");
  show(el("div", { class: "rows" }, linesOf(text).map(([name, paragraphs]) =>
    el("section", { class: "card runbook", id: name, "aria-label": name }, el("h2", {}, name.replace("Gigavqa", "")), paragraphs.map((one) => el("p", {}, words(one)))))));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
