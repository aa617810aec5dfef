// What a place of the picture is in the world: a scale bar, north, and coordinates under the cursor.

import { byId, el, figure, svg, whole } from "./dom.js";

const LONGEST = 130; // CSS pixels of the bar
const UNITS = [[1000, "km"], [1, "m"], [1e-2, "cm"], [1e-3, "mm"], [1e-6, "µm"], [1e-9, "nm"]];

// The greatest of 1, 2, 5, 10 ... that is not above a number.
const roundBelow = (most) => {
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find((digit) => digit * power <= most * (1 + 1e-9)) * power;
};
const lengthOf = (metres) => {
  const [unit, words] = UNITS.find(([least]) => metres >= least * (1 - 1e-9)) ?? UNITS.at(-1);
  return `${figure(Number((metres / unit).toPrecision(6)))} ${words}`;
};

// Where a point lies, as the file says it: in degrees, or in units of its projection.
const placeOf = ({ crs, affine: [a, b, c, d, e, f], is_geographic: isGeographic }, x, y) => {
  const [first, second] = [a * x + b * y + c, d * x + e * y + f];
  if (!isGeographic) return `E ${first.toFixed(1)}, N ${second.toFixed(1)} (${crs})`;
  const degrees = (number, [above, below]) => `${Math.abs(number).toFixed(6)}° ${number < 0 ? below : above}`;
  return `${degrees(second, "NS")}, ${degrees(first, "EW")} (${crs})`;
};

export const attachLegend = (viewer, { scale = {} }, size) => {
  const bar = el("div", { class: "bar" });
  const words = el("span");
  const needle = svg("svg", { viewBox: "-16 -16 32 32", class: "north", "aria-hidden": "true" }, svg("path", { d: "M0 -14L6 10L0 5L-6 10Z" }));
  const north = el("div", { class: "compass", role: "img" }, needle, "N");
  const legend = el("div", { class: "legend" }, ...(scale.north === undefined ? [] : [north]), el("div", { class: "scale" }, words, bar));
  viewer.container.append(legend);
  let pointer = null;

  const measure = () => {
    const { viewport } = viewer;
    const turned = ((viewport.getRotation(true) % 360) + 360) % 360;
    const side = turned % 180 === 90 ? scale.y : scale.x; // of what lies across the screen
    const zoomed = (viewport.getContainerSize().x * viewport.getZoom(true)) / size.x; // CSS pixels of a pixel
    const length = roundBelow((LONGEST / zoomed) * (side ?? 1));
    bar.style.width = `${(length / (side ?? 1)) * zoomed}px`;
    words.textContent = side ? lengthOf(length) : `${figure(length)} px`;
    if (scale.north === undefined) return;
    const angle = scale.north + turned;
    needle.style.transform = `rotate(${angle}deg)`;
    north.setAttribute("aria-label", `North is ${whole(((angle % 360) + 360) % 360)}° clockwise from up`);
  };
  const tell = () => {
    const { viewport } = viewer;
    const middle = viewport.getContainerSize().divide(2);
    const { x, y } = viewport.viewerElementToImageCoordinates(pointer ?? middle);
    const isInside = x >= 0 && y >= 0 && x < size.x && y < size.y;
    const place = isInside && scale.place ? `; ${placeOf(scale.place, x, y)}` : "";
    byId("where").textContent = isInside ? `${pointer ? "Cursor" : "Centre"}: ${whole(Math.floor(x))}, ${whole(Math.floor(y))}${place}` : "";
  };
  const follow = () => {
    if (!viewer.isOpen()) return;
    measure();
    tell();
  };
  for (const event of ["update-viewport", "open", "resize"]) viewer.addHandler(event, follow);
  viewer.container.addEventListener("pointermove", ({ clientX, clientY }) => {
    const { left, top } = viewer.container.getBoundingClientRect();
    pointer = new OpenSeadragon.Point(clientX - left, clientY - top);
    follow();
  });
  viewer.container.addEventListener("pointerleave", () => {
    pointer = null;
    follow();
  });
  follow();
};
