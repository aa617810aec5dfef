// The AI SDK with @ai-sdk/openai, whose models ask for responses.
import { createOpenAI } from "@ai-sdk/openai";
import { tryAll, tryReference, trySampling } from "./ai_sdk.mjs";
import { key, model, tell, tried, url, viewed } from "./checks.mjs";

const make = (name, apiKey = key) => createOpenAI({ baseURL: url, apiKey })(name);

await tryAll(make);
await tried("gigavqa:", async () => {
  await tryReference(make(model), viewed);
  return "the viewer's address";
});
await tried("n, stop, seed, logprobs", () => trySampling(createOpenAI({ baseURL: url, apiKey: key }).chat(model)));
tell("responses", "ok");
