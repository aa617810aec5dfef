// The AI SDK with @ai-sdk/openai-compatible.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { tryAll, tryReference, trySampling } from "./ai_sdk.mjs";
import { key, model, shown, tell, tried, url } from "./checks.mjs";

const options = { name: "gigavqa", baseURL: url, supportsStructuredOutputs: true, includeUsage: true };
const make = (name, apiKey = key) => createOpenAICompatible({ ...options, apiKey })(name);

await tryAll(make);
await tried("gigavqa:", async () => {
  const supportedUrls = () => ({ "image/*": [/^gigavqa:/] });
  await tryReference(createOpenAICompatible({ ...options, apiKey: key, supportedUrls })(model), shown);
  return "`supportedUrls`";
});
await tried("n, stop, seed, logprobs", () => trySampling(make(model)));
tell("responses", "chats alone");
