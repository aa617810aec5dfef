// A chat with a served model, as OpenAI's clients have it: its text as it grows, and what it took.

import { share, span, whole } from "./parts.js";
import { eventsOf, Refusal } from "./shell.js";

const dataOf = (event) => event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");

// Play the chat; `onText` is given every piece. Returns the text, why it ended, its tokens and its times.
export const play = async (model, messages, onText, signal) => {
  const began = performance.now();
  const told = { text: "", reason: null, usage: null, first: null, seconds: null };
  const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } });
  for await (const event of eventsOf("/v1/chat/completions", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal })) {
    const data = dataOf(event);
    if (data === "[DONE]") {
      told.seconds = (performance.now() - began) / 1000;
      return told;
    }
    if (!data) continue;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new Refusal(500, chunk.error.message);
    const choice = chunk.choices[0];
    if (choice?.delta.content) {
      told.first ??= (performance.now() - began) / 1000;
      told.text += choice.delta.content;
      onText(choice.delta.content);
    }
    told.reason = choice?.finish_reason ?? told.reason;
    told.usage = chunk.usage ?? told.usage;
  }
  throw new Refusal(0, "The answer broke off: the gateway ended.");
};

export const costOf = ({ first, seconds, usage, reason }) => {
  const { cached_tokens: cached, image_tokens: seen } = usage?.prompt_tokens_details ?? {};
  return [
    reason === "length" ? "cut off at the most tokens that an answer may have" : null,
    first === null ? null : `first word after ${span(first)}`,
    `all after ${span(seconds)}`,
    usage && `${whole(usage.prompt_tokens)} tokens read${seen ? `, ${whole(seen)} of pictures` : ""}${cached ? `, ${share(cached / usage.prompt_tokens)} from the cache` : ""}`,
    usage && `${whole(usage.completion_tokens)} written`,
  ].filter(Boolean).join("; ");
};
