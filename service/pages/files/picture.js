// The picture that questions are about: sent from this disk or one of a data set, with a region of it.

import { byId, bytes, el, link, whole } from "./parts.js";
import { ask, closer, download, get, Refusal, say, thumbnail, viewer } from "./shell.js";

const KEPT_SECONDS = 7 * 86400; // of a picture that was sent
const LARGEST_DRAWN = 64 << 20; // bytes; a larger one is not brought back to be shown
const ROUNDING = 1e-12;
const LEAST = 4; // pixels of the screen: less is a click
const four = (number) => Array(4).fill(`(${number})`).join(",");
const REGION = new RegExp(`^(?:${four("\\d{1,9}")}|pct:${four("\\d{1,9}(?:\\.\\d{1,9})?")})$`);
const UPLOAD = /^file-[\w-]+$/;

// --- which one ------------------------------------------------------------------------------------------------------

// An id of `file-...`, or a name below the data root; `size` where somebody knows it, `bitmap` where it is drawn here.
let picture = null;
export const current = () => picture;

const drawable = async (blob) => {
  const image = el("img", { alt: "", src: URL.createObjectURL(blob) });
  try {
    await image.decode();
    return image;
  } catch {
    return null; // a format that browsers do not draw
  }
};
const withBitmap = async (found, blob) => {
  const bitmap = blob && await drawable(blob);
  return { ...found, bitmap, size: bitmap && [bitmap.naturalWidth, bitmap.naturalHeight] };
};

const send = async (file) => {
  const form = new FormData();
  form.append("purpose", "vision");
  form.append("expires_after[anchor]", "created_at");
  form.append("expires_after[seconds]", String(KEPT_SECONDS));
  form.append("file", file, file.name);
  say(`sending ${file.name}, ${bytes(file.size)}`);
  const { id, displays } = await (await ask("/v1/files", { method: "POST", body: form })).json();
  return withBitmap({ id, displays, name: file.name, bytes: file.size }, file);
};

const contentOf = (id) => `/v1/files/${encodeURIComponent(id)}/content`;
export const bringUpload = async (id) => (await ask(contentOf(id))).blob();

const findUpload = async (id) => {
  const file = await get(`/v1/files/${encodeURIComponent(id)}`);
  return withBitmap({ id, displays: file.displays, name: file.filename, bytes: file.bytes }, file.bytes <= LARGEST_DRAWN ? await bringUpload(id) : null);
};

const findNamed = async (name, show) => {
  const [dataset, ...rest] = name.split("/");
  const image = rest.join("/");
  const { data } = await get(`/v1/datasets/${encodeURIComponent(dataset)}/images?image=${encodeURIComponent(image)}`);
  const found = data[0];
  if (!found) throw new Refusal(404, `No question of the data set '${dataset}' is about '${image}'.`);
  if (found.error && !show) throw new Refusal(404, found.error);
  return { id: name, name, dataset, image, bytes: found.num_bytes, size: found.width ? [found.width, found.height] : null };
};

// Find the picture of an address, or send a file. Nothing is none.
export const find = async (wanted, show) => (!wanted ? null : wanted instanceof File ? send(wanted) : UPLOAD.test(wanted) ? findUpload(wanted) : findNamed(wanted, show));

const names = new Map();
export const choose = (found) => {
  picture = found;
  if (found) names.set(found.id, found.name);
};
// A message in which pictures are called as they were when they were sent.
export const named = (text) => [...names].reduce((told, [id, name]) => told.replaceAll(id, name), text);

// How a message names it, or a region of it, shown so.
export const reference = (region, show) => {
  const wish = Object.entries({ region, show }).filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `gigavqa:${encodeURIComponent(picture.id)}${wish ? `?${wish}` : ""}`;
};

// --- a region -------------------------------------------------------------------------------------------------------

// Left, top, width and height as parts of the picture; nothing of what is no region, or of which nobody knows.
const partsOf = (region) => {
  const found = REGION.exec(region);
  const isShare = region.startsWith("pct:");
  if (!found || (!isShare && !picture.size)) return null;
  const [width, height] = isShare ? [100, 100] : picture.size;
  return found.slice(1).filter(Boolean).map(Number).map((value, at) => value / (at % 2 ? height : width));
};
const regionOf = ([x, y, width, height]) => {
  if (!picture.size) return `pct:${[x, y, width, height].map((part) => (100 * part).toFixed(2)).join(",")}`;
  const [left, top] = [Math.floor(x * picture.size[0]), Math.floor(y * picture.size[1])];
  const right = Math.min(picture.size[0], Math.ceil((x + width) * picture.size[0]));
  const bottom = Math.min(picture.size[1], Math.ceil((y + height) * picture.size[1]));
  return `${left},${top},${right - left},${bottom - top}`;
};
const pixelsOf = (region) => (region && picture.size ? partsOf(region)?.map((part, at) => part * picture.size[at % 2]) : undefined);

// Why a display is to be chosen first; nothing where the picture is shown as it is, or as its data set declares.
export const displayFault = (show) => (picture?.displays?.length && !show ? "This picture has samples that are not shown as they are: choose a display below it, or write one." : "");

// Why a region cannot be asked about; nothing where it can, as far as is known here.
export const faultOf = (region) => {
  if (!region) return "";
  if (!REGION.test(region)) return "A region is x,y,width,height in pixels, or pct:x,y,width,height in per cent.";
  const parts = picture && partsOf(region);
  if (!parts) return "";
  if (!parts[2] || !parts[3]) return `Region ${region} is empty.`;
  const isOutside = parts[0] + parts[2] > 1 + ROUNDING || parts[1] + parts[3] > 1 + ROUNDING;
  return isOutside ? `Region ${region} reaches outside of the picture${picture.size ? `, which has ${picture.size.map(whole).join(" × ")} pixels` : ""}.` : "";
};

// A small picture of what is shown, where there is anything to make one of: browsers know no displays.
export const shownPart = (region, side, show) => {
  const told = region ? `Region ${region} of ${picture.name}` : picture.name;
  if (picture.dataset) return viewer ? thumbnail(picture.name, side, told, region || "full", show) : null;
  if (show) return null;
  const parts = region ? partsOf(region) : [0, 0, 1, 1];
  if (!picture.bitmap || !parts) return null;
  const [x, y, width, height] = parts.map((part, at) => part * picture.size[at % 2]);
  const scale = Math.min(1, side / Math.max(width, height));
  const canvas = el("canvas", { role: "img", "aria-label": told, width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) });
  canvas.getContext("2d").drawImage(picture.bitmap, x, y, width, height, 0, 0, canvas.width, canvas.height);
  return canvas;
};

// --- what is seen of it ---------------------------------------------------------------------------------------------

const box = el("div", { class: "region", hidden: true });
export const drawRegion = (region) => {
  const parts = picture && region && !faultOf(region) && partsOf(region);
  box.hidden = !parts;
  if (parts) for (const [at, side] of ["left", "top", "width", "height"].entries()) box.style[side] = `${100 * parts[at]}%`;
};

// What is drawn with a pointer becomes the region; a click does nothing.
const drawing = (frame, onRegion) => {
  let start = null;
  const place = (event) => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height].map((part) => Math.min(1, Math.max(0, part)));
  };
  const between = (event) => {
    const end = place(event);
    const low = start.map((part, at) => Math.min(part, end[at]));
    return [...low, ...start.map((part, at) => Math.abs(part - end[at]))];
  };
  frame.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    frame.setPointerCapture(event.pointerId);
    start = place(event);
  });
  frame.addEventListener("pointermove", (event) => { if (start) drawRegion(regionOf(between(event))); });
  frame.addEventListener("pointerup", (event) => {
    if (!start) return;
    const drawn = between(event);
    start = null;
    const { width, height } = frame.getBoundingClientRect();
    if (drawn[2] * width >= LEAST && drawn[3] * height >= LEAST) onRegion(regionOf(drawn));
    else drawRegion(byId("region").value.trim());
  });
  frame.addEventListener("pointercancel", () => { start = null; });
};

const sizeTold = () => [picture.size ? `${picture.size.map(whole).join(" × ")} pixels` : null, bytes(picture.bytes)].filter(Boolean).join(", ");
const unseen = () => (picture.dataset ? "No viewer is known here, so the picture is not seen; models see it." : "This browser does not draw this picture; models see it.");

export const drawPicture = (onRegion, show) => {
  if (!picture) return [];
  const image = picture.bitmap ? shownPart("", 1400) : picture.dataset && viewer ? thumbnail(picture.name, 1024, picture.name, "full", show) : null;
  const frame = image && el("div", { class: "frame" }, image, box);
  if (frame) drawing(frame, onRegion);
  const wish = () => closer({ image: picture.name, ...(show ? { show } : {}), title: picture.image, back: [location.href, "the question"], at: pixelsOf(byId("region").value.trim()) });
  const lead = (event) => { event.currentTarget.href = wish(); };
  return [
    frame ?? el("p", { class: "soft" }, unseen()),
    picture.bitmap && (show || picture.displays?.length) ? el("p", { class: "soft" }, "This is drawn as the browser does it; models see it as the display says.") : null,
    el("p", {}, picture.dataset ? [link(`/datasets/${encodeURIComponent(picture.dataset)}`, picture.dataset), `/${picture.image}`] : picture.name, el("span", { class: "soft" }, ` ${sizeTold()}`),
      picture.dataset && viewer ? [" ", el("a", { href: wish(), onclick: lead, onauxclick: lead }, "Look closer")] : null,
      picture.dataset ? null : [" ", download(contentOf(picture.id), picture.name, "Download")]),
  ].filter(Boolean);
};
