// The data sets of the data root, each with its first pictures.

import { el, link, some } from "./parts.js";
import { attempt, get, pictureName, Refusal, say, show, thumbnail, viewer } from "./shell.js";

const tile = ({ name, title, benchmark, description }) => el("li", { "data-dataset": name },
  el("div", { class: "thumbs none", "data-thumbs": name }, viewer ? "" : "no viewer is known here, so no pictures"),
  el("div", { class: "words" },
    el("p", {}, link(`/datasets/${encodeURIComponent(name)}`, title || name)),
    el("p", { class: "soft" }, [name === title ? null : name, benchmark].filter(Boolean).join(", ")),
    description ? el("p", { class: "clamped" }, description) : null,
    el("p", { class: "soft", "data-counts": name })));

// A data set is read whole for this, so that one comes after the other, and only what somebody sees.
const look = async (name) => {
  const place = document.querySelector(`[data-counts="${CSS.escape(name)}"]`);
  try {
    const known = await get(`/v1/datasets/${encodeURIComponent(name)}`);
    place.textContent = `${some(known.num_samples, "question")} about ${some(known.num_images, "picture")}`;
    if (!viewer || !known.num_images) return;
    const { data } = await get(`/v1/datasets/${encodeURIComponent(name)}/images?limit=3`);
    const thumbs = document.querySelector(`[data-thumbs="${CSS.escape(name)}"]`);
    thumbs.classList.remove("none");
    thumbs.replaceChildren(...data.filter((image) => !image.error).map((image) => thumbnail(pictureName(name, image.name), 320, "")));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    place.textContent = error.message;
    place.classList.add("failed");
  }
};

const inTurn = (() => {
  let last = Promise.resolve();
  return (name) => { last = last.then(() => look(name)); };
})();
const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    inTurn(target.dataset.dataset);
  }
}, { rootMargin: "200px" });

const fresh = () => el("p", {}, link("/import", "New data set from a table", { class: "button" }));

attempt(async () => {
  const { data } = await get("/v1/datasets");
  say(data.length ? some(data.length, "data set") : "no data set yet");
  show(fresh(), data.length
    ? el("ul", { class: "grid", id: "datasets", "aria-label": "Data sets" }, data.map(tile))
    : el("div", { class: "next" }, "Data sets lie below the data root:", el("ul", {},
      el("li", {}, el("code", {}, "gigavqa dataset demo"), " draws one"),
      el("li", {}, el("code", {}, "gigavqa dataset import FILES NAME"), " reads those of harnesses, annotation tools and papers"),
      el("li", {}, el("code", {}, "gigavqa ask PICTURES QUESTIONS.csv -m MODEL"), " makes one of your own questions"))));
  for (const one of document.querySelectorAll("[data-dataset]")) watcher.observe(one);
});
