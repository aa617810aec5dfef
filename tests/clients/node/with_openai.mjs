// The `openai` package.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import {
  dataUrl, errorOf, hasLogprobs, key, limitedKey, model, parameters, patience, question, shown, slowModel, tell, tried,
  wrongKey,
} from "./checks.mjs";

const client = new OpenAI({ maxRetries: 0 });
const messages = [{ role: "user", content: question }];
const exact = { model, messages, max_tokens: 200, temperature: 0 };
const Finding = z.object({ letter: z.enum(["A", "B"]), sure: z.boolean() });
const tool = { type: "function", function: { name: "look", description: "Look closer.", parameters } };
const showing = (address) => [
  { role: "user", content: [{ type: "image_url", image_url: { url: address } }, { type: "text", text: question }] },
];
const ask = async (asked) => (await client.chat.completions.create({ model, messages, ...asked })).choices[0];

await tried("chat", async () => {
  assert((await ask({})).message.content);
  assert.equal((await client.models.list()).data[0].id, model);
});
for (const [feature, address] of [["data URL", dataUrl], ["gigavqa:", shown]])
  await tried(feature, async () => {
    const answer = await client.chat.completions.create({ model, messages: showing(address) });
    assert(answer.usage.prompt_tokens > 50);
  });
await tried("stream, usage", async () => {
  const stream = client.chat.completions.stream({ model, messages, seed: 1, stream_options: { include_usage: true } });
  assert.equal(await stream.finalContent(), (await ask({ seed: 1 })).message.content);
  assert((await stream.totalUsage()).completion_tokens);
});
await tried("JSON schema", async () => {
  const answer = await client.chat.completions.parse({ ...exact, response_format: zodResponseFormat(Finding, "f") });
  Finding.parse(answer.choices[0].message.parsed);
});
await tried("n, stop, seed, logprobs", async () => {
  const answer = await client.chat.completions.create({ model, messages, n: 2, seed: 5, logprobs: true, top_logprobs: 2 });
  assert.equal(answer.choices.length, 2);
  assert(!hasLogprobs || answer.choices[0].logprobs.content.length);
  const whole = (await ask({ seed: 5 })).message.content;
  const stop = whole.slice(2, 4);
  assert.equal((await ask({ seed: 5, stop: [stop] })).message.content, whole.slice(0, whole.indexOf(stop)));
});
await tried("async", async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask({})));
  assert(answers.every((answer) => answer.message.content));
});
await tried("timeout", async () => {
  const slow = { model: slowModel, messages };
  assert.equal(
    (await errorOf(() => client.chat.completions.create(slow, { timeout: patience }))).constructor,
    OpenAI.APIConnectionTimeoutError,
  );
  const aborter = new AbortController();
  setTimeout(() => aborter.abort(), patience);
  const left = () => client.chat.completions.create(slow, { signal: aborter.signal });
  assert.equal((await errorOf(left)).constructor, OpenAI.APIUserAbortError);
});
await tried("401, 404, 429", async () => {
  const asking = (apiKey, name, times) =>
    errorOf(() => client.withOptions({ apiKey }).chat.completions.create({ model: name, messages }), times);
  assert.equal((await asking(wrongKey, model)).constructor, OpenAI.AuthenticationError);
  assert.equal((await asking(key, "nobody")).constructor, OpenAI.NotFoundError);
  assert.equal((await asking(limitedKey, model, 2)).constructor, OpenAI.RateLimitError);
});
await tried("tools", async () => {
  for (const tool_choice of ["required", { type: "function", function: { name: "look" } }]) {
    const [call] = (await ask({ ...exact, tools: [tool], tool_choice })).message.tool_calls;
    assert.deepEqual(Object.keys(JSON.parse(call.function.arguments)), ["near"]);
  }
  const look = { ...tool.function, function: () => "a crane", parse: JSON.parse };
  const runner = client.chat.completions.runTools({ ...exact, tools: [{ type: "function", function: look }] });
  assert(await runner.finalContent());
});
await tried("responses", async () => {
  assert((await client.responses.create({ model, input: question })).output_text);
  const asked = { model, input: question, max_output_tokens: 200, temperature: 0 };
  const parsed = await client.responses.parse({ ...asked, text: { format: zodTextFormat(Finding, "f") } });
  Finding.parse(parsed.output_parsed);
  const types = [];
  for await (const event of await client.responses.create({ ...asked, stream: true })) types.push(event.type);
  assert.match(types.at(-1), /^response\.(completed|incomplete)$/);
});
await tried("files, batches", async () => {
  const line = { custom_id: "q", method: "POST", url: "/v1/chat/completions", body: { model, messages } };
  const file = await client.files.create({ file: await toFile(Buffer.from(JSON.stringify(line)), "c.jsonl"), purpose: "batch" });
  let batch = await client.batches.create({
    input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h",
  });
  for (let looked = 0; looked < 300 && !["completed", "failed"].includes(batch.status); looked += 1) {
    await new Promise((done) => setTimeout(done, 100));
    batch = await client.batches.retrieve(batch.id);
  }
  assert.equal(JSON.parse(await (await client.files.content(batch.output_file_id)).text()).custom_id, "q");
});
