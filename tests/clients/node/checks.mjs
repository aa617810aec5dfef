// What a client is tried for: a function for each feature, and a line of output that says what came of it.

const { env } = process;
export const url = env.OPENAI_BASE_URL;
export const key = env.OPENAI_API_KEY;
export const model = env.GIGAVQA_MODEL;
export const slowModel = env.GIGAVQA_SLOW_MODEL;
export const shown = env.GIGAVQA_SHOWN;
export const viewed = env.GIGAVQA_ADDRESS; // the same picture by IIIF
export const dataUrl = env.GIGAVQA_DATA_URL;
export const limitedKey = env.GIGAVQA_LIMITED_KEY; // may ask once a minute
export const wrongKey = `gvq_zzzzzzzz_${"A".repeat(43)}`;
export const hasLogprobs = env.GIGAVQA_LOGPROBS === "1";
export const patience = 1000; // milliseconds, within which the slow model says nothing
export const question = "Which one?\nA. One\nB. Two";
export const parameters = {
  type: "object",
  properties: { near: { type: "boolean" } },
  required: ["near"],
  additionalProperties: false,
};

export const tell = (feature, told) => console.log(JSON.stringify({ [feature]: told }));

/** Try a feature, and print `ok`, the option that it needs, which the function returns, or what went wrong. */
export async function tried(feature, play) {
  try {
    const needs = await play();
    tell(feature, needs ? `ok, with ${needs}` : "ok");
  } catch (error) {
    tell(feature, `FAILED: ${error?.name}: ${String(error?.message).slice(0, 600)}`);
  }
}

/** Return the error that a call ends with at the latest when it is made so many times. */
export async function errorOf(call, times = 1) {
  for (let made = 0; made < times; made += 1) {
    try {
      await call();
    } catch (error) {
      return error;
    }
  }
  throw new Error("no error came");
}
