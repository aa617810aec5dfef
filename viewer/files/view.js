// Evidence in one picture. What is shown stands in the address behind `#`, as JSON, which no server is sent:
//   image, digest, title, back: [address, name] of the page that led here, told: [[name, text]], boxes: [[kind, name, [x, y, w, h]]], seen: [{region, size, caption, show}],
//   at: [x, y, w, h], where it opens, show: how it is shown, unless `?show=` of the address says so
// `?image=` names a picture of which nothing else is to be told.
// Boxes and regions are pixels of the full picture, as everywhere. Nothing of it is trusted: texts become text nodes.

import { askedDisplay, begin as beginDisplay, offer, queryOf } from "./display.js";
import { byId, el, problemOf, svg, whole } from "./dom.js";
import { attachLegend } from "./legend.js";

const KINDS = { true: "the truth", read: "the model's answer", zoom: "zooms of the chat", local: "local evidence (V3, V4)" };
const MOST_BOXES = 2000;
// --- the address ---------------------------------------------------------------------------------------------------

const text = (value, most = 4000) => String(value ?? "").slice(0, most);
const list = (value) => (Array.isArray(value) ? value : []);
const quadruple = (box) => {
  const numbers = list(box).map(Number);
  return numbers.length === 4 && numbers.every(Number.isFinite) && numbers[2] >= 0 && numbers[3] >= 0 ? numbers : null;
};
// The gateway whose page led here: what stands before that page's own address.
const GATEWAY_PAGE = /^(.*?\/)((v1\/)?(reports|jobs\/[^/]+\/report)|datasets\/[^/]+|ask)$/;
const gatewayOf = ({ address }) => {
  const found = GATEWAY_PAGE.exec(address.pathname);
  return found && address.origin + found[1];
};
const pageOf = ([address, name]) => (/^https?:/.test(address) && URL.canParse(address) ? { address: new URL(address), name: text(name, 80) } : null);
const wished = () => {
  const given = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}") ?? {};
  const boxes = list(given.boxes).slice(0, MOST_BOXES).map((one) => ({ kind: one?.[0], name: text(one?.[1], 200), box: quadruple(one?.[2]) }));
  const seen = list(given.seen).slice(0, 64).map((one) => ({ region: quadruple(one?.region), size: list(one?.size).map(Number), caption: text(one?.caption, 400), show: text(one?.show, 500) }));
  return {
    image: text(given.image || new URLSearchParams(location.search).get("image"), 4000),
    show: askedDisplay() ?? text(given.show, 500),
    digest: /^([0-9a-f]{64}|v?[0-9a-f]{32})$/.test(given.digest) ? given.digest : "",
    title: text(given.title, 400),
    back: pageOf(list(given.back)),
    told: list(given.told).slice(0, 12).map((pair) => [text(pair?.[0], 80), text(pair?.[1])]).filter(([, told]) => told),
    boxes: Object.keys(KINDS).flatMap((kind) => boxes.filter((one) => one.box && one.kind === kind)),
    at: quadruple(given.at),
    seen: seen.filter((one) => one.region && one.size.length === 2 && one.size.every((side) => Number.isInteger(side) && side > 0)),
  };
};

// --- panes ---------------------------------------------------------------------------------------------------------

const OPTIONS = {
  showNavigationControl: false, drawer: "canvas", animationTime: 0.4, maxZoomPixelRatio: 16, visibilityRatio: 0.2, minZoomImageRatio: 0.8,
  tileRetryMax: 40, tileRetryDelay: 2500, timeout: 60000, gestureSettingsMouse: { clickToZoom: false }, crossOriginPolicy: false,
};
let wish, info, name, size, full, model, leader = null, pointed = null;

const say = (words) => { byId("status").textContent = words; };

// Boxes are one drawing as large as the pane, which follows the viewport: at 1 : 1 one as large as the picture would be too large.
const overlay = (viewer) => {
  const group = svg("g", {});
  for (const [number, { kind, box: [x, y, width, height] }] of wish.boxes.entries()) {
    for (const halo of ["halo ", ""]) group.append(svg("rect", { class: halo + kind, "data-box": number, x, y, width, height }));
  }
  const drawing = svg("svg", { "aria-hidden": "true" });
  drawing.append(group);
  viewer.canvas.append(drawing);
  const follow = () => {
    const { viewport } = viewer;
    const { x, y } = viewport.pixelFromPointNoRotate(new OpenSeadragon.Point(0, 0), true);
    const scale = (viewport.getContainerSize().x * viewport.getZoom(true)) / size.x;
    const centre = viewport.getContainerSize().divide(2);
    group.setAttribute("transform", `rotate(${viewport.getRotation(true)} ${centre.x} ${centre.y}) translate(${x} ${y}) scale(${scale})`);
  };
  for (const event of ["update-viewport", "open", "resize"]) viewer.addHandler(event, follow);
  follow();
};

const label = (viewer, words) => {
  viewer.canvas.setAttribute("role", "application");
  viewer.canvas.setAttribute("aria-label", `${words}, ${whole(size.x)} by ${whole(size.y)} pixels. Arrow keys pan, plus and minus zoom, 0 shows all. The boxes are listed beside it.`);
};

// What of the picture is seen, in its own pixels: left, top, right, bottom.
const seenPart = (bounds) => {
  const { x, y, width, height } = full.viewport.viewportToImageRectangle(bounds);
  return [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y)), Math.min(size.x, Math.ceil(x + width)), Math.min(size.y, Math.ceil(y + height))];
};

const tell = () => {
  const picture = full?.world.getItemAt(0);
  if (!picture || !byId("key").hidden) return; // what is said of the key stays
  const percent = 100 * picture.viewportToImageZoom(full.viewport.getZoom());
  const [left, top, right, bottom] = seenPart(full.viewport.getBounds());
  leadToQuestion();
  say(`Shown at ${percent < 10 ? percent.toPrecision(2) : Math.round(percent)} %: ${whole(left)}, ${whole(top)}, ${whole(Math.max(0, right - left))} × ${whole(Math.max(0, bottom - top))}${picture.getFullyLoaded() ? "" : ". Finer parts of it are on their way."}`);
};

// A question about what is seen now, on the gateway's page for it; a digest names other bytes than the data root's now.
const leadToQuestion = () => {
  const gateway = wish.back && gatewayOf(wish.back);
  byId("ask").hidden = !gateway;
  if (!gateway) return;
  const [left, top, right, bottom] = seenPart(full.viewport.getBoundsNoRotate());
  const isPart = right > left && bottom > top && (left || top || right < size.x || bottom < size.y);
  const query = new URLSearchParams({ image: wish.image, ...(isPart ? { region: [left, top, right - left, bottom - top].join(",") } : {}), ...(wish.show ? { show: wish.show } : {}) });
  byId("ask").href = `${gateway}ask?${query}`;
};

// The one that moved leads; the other follows without answering.
const follows = (one, other) => {
  one.addHandler("update-viewport", () => {
    if (leader === other || !other.isOpen() || byId("seen").hidden) return;
    leader = one;
    other.viewport.setRotation(one.viewport.getRotation(true), true);
    other.viewport.fitBounds(one.viewport.getBoundsNoRotate(true), true);
    other.forceRedraw();
    requestAnimationFrame(() => { leader = null; });
  });
};

// In the colours that the model was shown, whatever is chosen here.
const rasterAddress = ({ region, size: [width, height], show }) => {
  const [x, y, w, h] = region.map(Math.round);
  return `${info.id}/${x},${y},${w},${h}/${width},${height}/0/default.png?${new URLSearchParams({ as: "raster", ...(show ? { show } : {}) })}`;
};

const showRaster = () => {
  const one = wish.seen[Number(byId("raster").value) || 0];
  const [x, y, width, height] = one.region;
  model.clearOverlays();
  const picture = el("img", { class: "raster", src: rasterAddress(one), alt: one.caption || "What the model saw" });
  picture.addEventListener("error", async () => {
    if (!(await isOver())) say("This raster cannot be made of the picture.");
  });
  model.addOverlay({ element: picture, location: new OpenSeadragon.Rect(x / size.x, y / size.x, width / size.x, height / size.x) });
  byId("seen-caption").textContent = `As the model saw it: ${one.size.map(whole).join(" × ")} pixels of ${one.region.slice(2).map(whole).join(" × ")}`;
};

const beside = () => {
  const isOn = byId("seen").hidden;
  const shown = full.viewport.getBounds();
  full.addOnceHandler("resize", () => full.viewport.fitBounds(shown, true)); // the pane has another shape then
  byId("seen").hidden = !isOn;
  byId("beside").setAttribute("aria-pressed", String(isOn));
  byId("which").hidden = !isOn || wish.seen.length < 2;
  if (!isOn) return;
  if (model) {
    showRaster();
    full.forceRedraw();
    return;
  }
  // The full picture lies below unseen, so that both panes have the same places.
  model = OpenSeadragon({ element: byId("model"), ...OPTIONS });
  model.addHandler("open", () => {
    label(model, "As the model saw it");
    overlay(model);
    point();
    showRaster();
    model.viewport.fitBounds(shown, true);
    follows(full, model);
    follows(model, full);
  });
  model.open({ tileSource: info, opacity: 0 });
};

// --- beside the picture --------------------------------------------------------------------------------------------

const point = (number = pointed) => {
  pointed = number;
  for (const box of document.querySelectorAll("rect[data-box]")) box.classList.toggle("pointed", box.dataset.box === String(number));
};

const fit = ([x, y, width, height], part, immediately = false) => {
  const margin = Math.max(width, height, 64) * part;
  full.viewport.fitBounds(full.viewport.imageToViewportRectangle(x - margin, y - margin, width + 2 * margin, height + 2 * margin), immediately);
};
const go = (number) => {
  fit(wish.boxes[number].box, 0.75);
  point(number);
};

const drawList = () => {
  const kinds = Object.keys(KINDS).filter((kind) => wish.boxes.some((one) => one.kind === kind));
  byId("layers").replaceChildren(...kinds.map((kind) => {
    const box = el("input", { type: "checkbox", "data-layer": kind, checked: "" });
    box.addEventListener("change", () => {
      document.body.classList.toggle(`hide-${kind}`, !box.checked);
      for (const row of document.querySelectorAll(`#boxes li[data-kind=${kind}]`)) row.hidden = !box.checked;
    });
    return el("label", { class: kind }, box, `${KINDS[kind]} (${wish.boxes.filter((one) => one.kind === kind).length})`);
  }));
  if (!kinds.length) byId("layers").textContent = "No boxes were given.";
  byId("boxes").replaceChildren(...wish.boxes.map(({ kind, name, box: [x, y, width, height] }, number) => {
    const button = el("button", { type: "button" }, name ? `${name}: ${KINDS[kind]}` : KINDS[kind], el("small", {}, `${whole(x)}, ${whole(y)}, ${whole(width)} × ${whole(height)}`));
    button.addEventListener("click", () => go(number));
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => point(number));
    return el("li", { "data-kind": kind }, button);
  }));
};

// As QuPath reads it: polygons in pixels of the full picture, from its top left.
const geojson = () => ({
  type: "FeatureCollection",
  features: wish.boxes.map(({ kind, name, box: [x, y, w, h] }) => ({
    type: "Feature",
    geometry: { type: "Polygon", coordinates: [[[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]]] },
    properties: { objectType: "annotation", name: name || KINDS[kind], classification: { name: KINDS[kind] }, kind, image: wish.image },
  })),
});

const drawWords = () => {
  const hasEvidence = wish.boxes.length + wish.told.length + wish.seen.length > 0 || !wish.image;
  document.title = wish.title ? `${wish.title}${hasEvidence ? ": evidence" : ""}` : hasEvidence ? "Evidence" : wish.image;
  byId("title").textContent = wish.title || (hasEvidence ? "Evidence" : "Picture");
  if (wish.back) {
    const { address, name } = wish.back;
    byId("back").href = address.href;
    byId("back").textContent = `Back to ${address.hostname === location.hostname && name ? name : address.origin}`; // a link may come from anywhere
    byId("start").href = gatewayOf(wish.back) ?? address.origin;
    byId("head").hidden = false;
  }
  byId("asked").hidden = !wish.told.length;
  byId("said-of-it").replaceChildren(...wish.told.flatMap(([name, told]) => [el("dt", {}, name), el("dd", {}, told)]));
  byId("raster").replaceChildren(...wish.seen.map((one, number) => el("option", { value: number }, one.caption || one.size.join(" × "))));
  byId("beside").hidden = !wish.seen.length;
  if (!wish.boxes.length) return;
  byId("geojson").href = URL.createObjectURL(new Blob([JSON.stringify(geojson())], { type: "application/geo+json" }));
  byId("geojson").hidden = false;
};

// --- keys ----------------------------------------------------------------------------------------------------------

// The viewer keeps who looks by a cookie, which no script reads: pictures cannot be asked for with a key.
const askForKey = (words) => {
  say(words);
  byId("key").hidden = false;
  byId("secret").focus();
};
byId("key").addEventListener("submit", async (event) => {
  event.preventDefault();
  const key = byId("secret").value.trim();
  byId("secret").value = "";
  const answer = await fetch("session", { method: "POST", headers: { Authorization: `Bearer ${key}` } });
  if (answer.ok) location.reload();
  else say(`The key was refused: ${(await problemOf(answer)).detail}`);
});
// A picture does not say why it does not come.
const isOver = async () => {
  if (!byId("key").hidden) return true;
  const { status } = await fetch(`${info.id}/info.json${queryOf(wish.show)}`, { cache: "no-store" });
  if (status === 401 && byId("key").hidden) askForKey("The session is over; the key opens another.");
  return status === 401;
};

// --- begin ---------------------------------------------------------------------------------------------------------

// The tiles of the picture under a display, which stands in the address of each.
const tilesOf = (show) => {
  const { IIIFTileSource } = OpenSeadragon;
  const tiles = new IIIFTileSource(IIIFTileSource.prototype.configure({ ...info }, info.id, null));
  if (show) tiles.getTileUrl = (...tile) => `${IIIFTileSource.prototype.getTileUrl.apply(tiles, tile)}${queryOf(show)}`;
  return tiles;
};

const showSo = (show) => {
  wish.show = show;
  full.preserveViewport = true;
  full.open(tilesOf(show));
};

const refuse = async (answer) => {
  const { type, detail } = await problemOf(answer);
  if (/:(pixel-type|display-invalid)$/.test(type) && await offer(name, detail, () => location.reload())) {
    byId("panes").hidden = document.querySelector(".tools").hidden = true;
    say("");
  } else say(`The picture cannot be shown: ${detail}`);
};

const open = () => {
  full = OpenSeadragon({ element: byId("full"), ...OPTIONS });
  full.addOnceHandler("open", () => {
    label(full, wish.image);
    overlay(full);
    attachLegend(full, info, size);
    if (wish.at) fit(wish.at, 0.1, true);
  });
  full.addHandler("open", () => {
    tell();
    full.world.getItemAt(0).addHandler("fully-loaded-change", tell);
  });
  full.addHandler("animation-finish", tell);
  full.addHandler("tile-load-failed", isOver);
  full.open(tilesOf(wish.show));
};

const begin = async () => {
  try {
    wish = wished();
  } catch {
    say("The address holds no picture that can be read: it is JSON behind #.");
    return;
  }
  drawWords();
  drawList();
  byId("picture").textContent = wish.image;
  if (!wish.image) {
    say("No picture is named. Links in a report's samples lead here.");
    return;
  }
  name = encodeURIComponent(wish.digest ? `${wish.image}@${wish.digest}` : wish.image);
  say("The picture is being opened.");
  const answer = await fetch(`iiif/3/${name}/info.json${queryOf(wish.show)}`);
  if (answer.status === 401) {
    askForKey("Pictures are shown to those who have a key.");
    return;
  }
  if (!answer.ok) {
    await refuse(answer);
    return;
  }
  info = await answer.json();
  info.id = new URL(`iiif/3/${name}`, location.href).href; // the very address that this page has reached, whatever proxies say
  size = new OpenSeadragon.Point(info.width, info.height);
  byId("picture").textContent = `${wish.image}, ${whole(size.x)} × ${whole(size.y)} pixels`;
  open();
  beginDisplay(name, wish.show, showSo);
};

byId("in").addEventListener("click", () => full?.viewport.zoomBy(1.6));
byId("out").addEventListener("click", () => full?.viewport.zoomBy(1 / 1.6));
byId("home").addEventListener("click", () => full?.viewport.goHome());
byId("turn").addEventListener("click", () => full?.viewport.rotateBy(90));
byId("beside").addEventListener("click", () => { if (full?.isOpen()) beside(); });
byId("raster").addEventListener("change", showRaster);
addEventListener("hashchange", () => { if (location.hash.startsWith("#%7B")) location.reload(); });
begin();
