// What the modules of the page make elements by, and read refusals.

export const byId = (id) => document.getElementById(id);
export const el = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
export const svg = (name, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
export const whole = (number) => Math.round(number).toLocaleString("en");
// Up to five digits that say something.
export const figure = (number) => (Number.isInteger(number) ? whole(number) : Number(number.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 }));

// Refusals of the viewer are problem documents, those of proxies are not.
export const problemOf = async (answer) => {
  const said = (await answer.text()).trim();
  try {
    return { detail: said, ...JSON.parse(said) };
  } catch {
    return { detail: said };
  }
};
