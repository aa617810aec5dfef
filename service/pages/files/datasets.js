// The data sets of the data root, each with some of its pictures. None is read whole for it.

import { el, link, some } from "./parts.js";
import { attempt, get, pictureName, say, show, thumbnail, viewer } from "./shell.js";

const thumbs = ({ name, pictures }) => (viewer && pictures.length
  ? el("div", { class: "thumbs" }, pictures.map((image) => thumbnail(pictureName(name, image), 320, "")))
  : el("div", { class: "thumbs none" }, viewer ? "no picture" : "no viewer is known here, so no pictures"));

const tile = (dataset) => {
  const { name, title, benchmark, description } = dataset;
  return el("li", { "data-dataset": name },
    thumbs(dataset),
    el("div", { class: "words" },
      el("p", {}, link(`/datasets/${encodeURIComponent(name)}`, title || name)),
      el("p", { class: "soft" }, [name === title ? null : name, benchmark].filter(Boolean).join(", ")),
      description ? el("p", { class: "clamped" }, description) : null));
};

attempt(async () => {
  const { data } = await get("/v1/datasets");
  say(data.length ? some(data.length, "data set") : "no data set yet");
  show(el("p", {}, link("/import", "New data set from a table", { class: "button" })), data.length
    ? el("ul", { class: "grid", id: "datasets", "aria-label": "Data sets" }, data.map(tile))
    : el("div", { class: "next" }, "Data sets lie below the data root. A table of questions becomes one ", link("/import", "here"), "; at a terminal:", el("ul", {},
      el("li", {}, el("code", {}, "gigavqa dataset demo"), " draws one"),
      el("li", {}, el("code", {}, "gigavqa dataset import FILES NAME"), " reads those of harnesses, annotation tools and papers"),
      el("li", {}, el("code", {}, "gigavqa ask PICTURES QUESTIONS.csv -m MODEL"), " makes one of your own questions"))));
});
