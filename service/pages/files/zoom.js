// Deep zoom into a picture of a data set, with boxes over it, and boxes that are drawn. The viewer brings its tiles.

import { el } from "./parts.js";
import { pictureName, viewer } from "./shell.js";

const TILE = 512; // as the viewer cuts them, so that it keeps what it made
const LEAST = 4; // pixels of the screen: less is a click
const OPTIONS = {
  showNavigationControl: false, drawer: "canvas", animationTime: 0.3, maxZoomPixelRatio: 16, visibilityRatio: 0.2, minZoomImageRatio: 0.8,
  tileRetryMax: 40, tileRetryDelay: 2500, timeout: 60000, gestureSettingsMouse: { clickToZoom: false }, crossOriginPolicy: false,
};
const svg = (name, attributes = {}) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const tilesOf = (dataset, { name, width, height, show }) => {
  const factors = [1];
  while (Math.max(width, height) / factors.at(-1) > TILE) factors.push(2 * factors.at(-1));
  const tiles = new OpenSeadragon.IIIFTileSource({
    "@context": "http://iiif.io/api/image/3/context.json", type: "ImageService3", protocol: "http://iiif.io/api/image", profile: "level2",
    id: `${viewer}/iiif/3/${encodeURIComponent(pictureName(dataset, name))}`, width, height, tiles: [{ width: TILE, height: TILE, scaleFactors: factors }],
  });
  const { getTileUrl } = tiles;
  if (show) tiles.getTileUrl = (...tile) => `${getTileUrl.apply(tiles, tile)}?${new URLSearchParams({ show })}`;
  return tiles;
};

// One pane for all pictures of a page. `onDrawn` is told of a box that somebody draws, in pixels of the picture.
export const deepZoom = (dataset, onDrawn) => {
  const place = el("div", { class: "pane" });
  let pane = null;
  let image = null;
  let from = null;
  const group = svg("g");
  const rubber = svg("rect", { class: "drawn" });

  const follow = () => {
    const { x, y } = pane.viewport.pixelFromPoint(new OpenSeadragon.Point(0, 0), true);
    const scale = (pane.viewport.getContainerSize().x * pane.viewport.getZoom(true)) / image.width;
    group.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  };
  const at = (event) => {
    const { left, top } = place.getBoundingClientRect();
    const { x, y } = pane.viewport.viewportToImageCoordinates(pane.viewport.pointFromPixel(new OpenSeadragon.Point(event.clientX - left, event.clientY - top), true));
    return [Math.min(image.width, Math.max(0, x)), Math.min(image.height, Math.max(0, y))];
  };
  const between = ([x, y], [u, v]) => [Math.floor(Math.min(x, u)), Math.floor(Math.min(y, v)), Math.ceil(Math.max(x, u)), Math.ceil(Math.max(y, v))];
  const stretch = (rect, [left, top, right, bottom]) => {
    for (const [key, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) rect.setAttribute(key, value);
  };
  const sheet = el("div", { class: "sheet", hidden: true });
  sheet.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    sheet.setPointerCapture(event.pointerId);
    from = { place: at(event), x: event.clientX, y: event.clientY };
  });
  sheet.addEventListener("pointermove", (event) => {
    if (!from) return;
    stretch(rubber, between(from.place, at(event)));
    group.append(rubber);
  });
  const end = (event) => {
    if (!from) return;
    const isClick = Math.abs(event.clientX - from.x) < LEAST || Math.abs(event.clientY - from.y) < LEAST;
    const box = between(from.place, at(event));
    from = null;
    rubber.remove();
    if (event.type === "pointerup" && !isClick) onDrawn(box);
  };
  sheet.addEventListener("pointerup", end);
  sheet.addEventListener("pointercancel", end);

  // Tiles that fail are black, and are asked for again and again: who reviews must know that nothing is seen.
  const missing = el("p", { class: "next missing", role: "status", hidden: true });
  const probe = (wanted) => {
    const address = encodeURIComponent(pictureName(dataset, wanted.name));
    const small = new Image();
    small.onload = () => { missing.hidden = true; };
    small.onerror = () => {
      if (image !== wanted) return;
      const link = el("a", { href: `${viewer}/view?image=${address}`, target: "_blank", rel: "noopener" }, "open it in the viewer");
      missing.replaceChildren("The viewer does not show this picture here. It may want your key: ", link, ", give it there, and load this page again.");
      missing.hidden = false;
    };
    small.src = `${viewer}/iiif/3/${address}/full/!64,64/0/default.jpg${wanted.show ? `?${new URLSearchParams({ show: wanted.show })}` : ""}`;
  };

  const begin = () => {
    pane = OpenSeadragon({ element: place, ...OPTIONS });
    const drawing = svg("svg", { "aria-hidden": "true" });
    drawing.append(group);
    pane.canvas.append(drawing);
    place.append(sheet, missing);
    for (const event of ["update-viewport", "open", "resize"]) pane.addHandler(event, () => { if (image && pane.world.getItemCount()) follow(); });
    pane.canvas.setAttribute("role", "application");
    // Letters are the page's: here they would turn, flip and pan.
    pane.addHandler("canvas-key", (event) => { if (/^[a-z]$/i.test(event.originalEvent.key)) event.preventDefaultAction = true; });
  };

  return {
    place,
    open: (wanted) => {
      const isKnown = image?.name === wanted.name && image.show === wanted.show; // its tiles are here
      if (!pane) begin();
      image = wanted;
      missing.hidden = true;
      group.replaceChildren();
      if (isKnown) {
        pane.viewport?.goHome(true);
        return;
      }
      pane.canvas.setAttribute("aria-label", `${wanted.name}, ${wanted.width} by ${wanted.height} pixels. Arrow keys pan, plus and minus zoom, 0 shows all.`);
      pane.open(tilesOf(dataset, wanted));
      probe(wanted);
    },
    draw: (boxes, chosen = -1) => {
      group.replaceChildren(...boxes.flatMap((box, number) => ["halo", number === chosen ? "chosen" : "true"].map((kind) => {
        const rect = svg("rect", { class: kind });
        stretch(rect, box);
        return rect;
      })));
    },
    drawing: (isOn) => { sheet.hidden = !isOn; },
    zoom: (factor) => pane?.viewport.zoomBy(factor),
    home: () => pane?.viewport.goHome(),
    fit: ([left, top, right, bottom]) => {
      const margin = Math.max(right - left, bottom - top, 64) * 0.75;
      pane.viewport.fitBounds(pane.viewport.imageToViewportRectangle(left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin));
    },
  };
};
