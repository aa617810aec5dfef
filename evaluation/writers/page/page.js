"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const form = document.getElementById("filters");
  const dialog = document.getElementById("enlarged");
  const samples = [...document.querySelectorAll(".sample")];

  // A sample's pictures are decoded when it is opened for the first time.
  const fill = (sample) => {
    for (const place of sample.querySelectorAll(".picture:not(.filled)")) {
      place.classList.add("filled");
      const data = pictures[place.dataset.picture];
      if (!data) { place.disabled = true; continue; }
      const image = document.createElement("img");
      image.alt = place.getAttribute("aria-label").replace("Enlarge: ", "");
      image.src = data;
      place.replaceChildren(image);
      place.addEventListener("click", () => {
        dialog.querySelector("img").src = data;
        dialog.querySelector("img").alt = image.alt;
        dialog.showModal();
      });
    }
  };
  for (const sample of samples) sample.addEventListener("toggle", () => sample.open && fill(sample));
  dialog.addEventListener("click", () => dialog.close());
  if (!form) return;

  const fits = (response, wanted) => {
    for (const name of ["model", "protocol", "condition"]) {
      if (wanted[name] && response.dataset[name] !== wanted[name]) return false;
    }
    if (wanted.outcome === "part") return response.dataset.wrong === "1";
    return !wanted.outcome || response.dataset.outcome === wanted.outcome;
  };

  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    let shown = 0, answers = 0;
    for (const sample of samples) {
      const place = (!wanted.domain || sample.dataset.domain === wanted.domain)
        && (!wanted.category || sample.dataset.category === wanted.category);
      const dots = sample.querySelectorAll(".dots i");
      let fitting = 0;
      sample.querySelectorAll(".response").forEach((response, index) => {
        const fit = place && fits(response, wanted);
        response.hidden = dots[index].hidden = !fit;
        fitting += fit;
      });
      sample.hidden = !fitting;
      shown += fitting > 0;
      answers += fitting;
    }
    document.getElementById("shown").textContent = `${shown} of ${samples.length} samples, ${answers} responses`;
    document.getElementById("nothing").hidden = shown > 0;
  };
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.classList.contains("sample")) target.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
