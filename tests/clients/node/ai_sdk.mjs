// What both of the AI SDK's providers are tried for.
import assert from "node:assert/strict";
import { generateObject, generateText, streamText, tool, jsonSchema } from "ai";
import { z } from "zod";
import { dataUrl, errorOf, limitedKey, model, parameters, patience, question, slowModel, tell, tried, wrongKey }
  from "./checks.mjs";

const Finding = z.object({ letter: z.enum(["A", "B"]), sure: z.boolean() });
const look = tool({ description: "Look closer.", inputSchema: jsonSchema(parameters), execute: () => "a crane" });
const once = { maxRetries: 0 };
const exact = { ...once, maxOutputTokens: 200, temperature: 0 };
const showing = (image) => [{ role: "user", content: [{ type: "image", image }, { type: "text", text: question }] }];

/** Try all but references and responses; `make` makes a model of its name and of a key. */
export async function tryAll(make) {
  const ours = make(model);
  await tried("chat", async () => {
    const { text, usage } = await generateText({ model: ours, prompt: question, ...once });
    assert(text && usage.outputTokens);
  });
  await tried("data URL", async () => assert((await generateText({ model: ours, messages: showing(dataUrl), ...once })).text));
  await tried("stream, usage", async () => {
    const { textStream, usage } = streamText({ model: ours, prompt: question, ...once });
    let text = "";
    for await (const piece of textStream) text += piece;
    assert(text && (await usage).outputTokens);
  });
  await tried("JSON schema", async () => {
    Finding.parse((await generateObject({ model: ours, schema: Finding, prompt: question, ...exact })).object);
  });
  await tried("async", async () => {
    const asked = Array.from({ length: 8 }, () => generateText({ model: ours, prompt: question, ...once }));
    assert((await Promise.all(asked)).every(({ text }) => text));
  });
  await tried("timeout", async () => {
    const slow = () => generateText({ model: make(slowModel), prompt: question, abortSignal: AbortSignal.timeout(patience), ...once });
    assert.match((await errorOf(slow)).name, /Timeout|Abort/);
  });
  await tried("401, 404, 429", async () => {
    const asking = (name, key, times) => errorOf(() => generateText({ model: make(name, key), prompt: question, ...once }), times);
    assert.equal((await asking(model, wrongKey)).statusCode, 401);
    assert.equal((await asking("nobody")).statusCode, 404);
    assert.equal((await asking(model, limitedKey, 2)).statusCode, 429);
  });
  await tried("tools", async () => {
    const { toolCalls } = await generateText({ model: ours, prompt: question, tools: { look }, toolChoice: "required", ...exact });
    assert.deepEqual(Object.keys(toolCalls[0].input), ["near"]);
    assert((await generateText({ model: ours, prompt: question, tools: { look }, ...exact })).text);
  });
  tell("files, batches", "none");
}

/** Try a picture by reference. */
export async function tryReference(ours, address) {
  assert((await generateText({ model: ours, messages: showing(new URL(address)), ...once })).text);
}

/** Try seed and stop, which the provider passes on. */
export async function trySampling(ours) {
  const asked = { model: ours, prompt: question, seed: 5, ...once };
  const { text } = await generateText(asked);
  const stop = text.slice(2, 4);
  assert.equal((await generateText({ ...asked, stopSequences: [stop] })).text, text.slice(0, text.indexOf(stop)));
}
