import type { Dispatcher } from "undici";
import type { Model } from "../../protocol/agents/models.ts";
import type { OpenAiConfig } from "../config.ts";
import type { Timeouts } from "../transport/adapter.ts";
import { endpoint, shownUrl } from "../transport/endpoint.ts";
import { HttpExchange } from "../transport/http-exchange.ts";
import { failure, statusFailure } from "../transport/upstream-error.ts";

/** Several pictures in base64. */
const longestAnswer = 64 << 20;
const longestErrorBody = 64 << 10;

type Connection = {
  readonly dispatcher: Dispatcher;
  readonly timeouts: Timeouts;
  readonly headers: Readonly<Record<string, string>>;
};

/** Posts to what a server has beside chat, and reads the answer whole. It is asked once: nobody knows what a second time costs. */
export function passOver(
  { id, model, baseUrl }: Pick<OpenAiConfig, "id" | "model"> & { readonly baseUrl: string },
  { dispatcher, timeouts, headers }: Connection,
): NonNullable<Model["pass"]> {
  return async ({ path, bodyFor }, signal) => {
    const url = endpoint(baseUrl, path, { version: "v1" });
    const target = { id, provider: "openai", model, endpoint: shownUrl(url) };
    const { contentType, bytes: body } = await bodyFor(model);
    const sent = { "accept-encoding": "identity", ...headers, "content-type": contentType };
    const exchange = new HttpExchange(dispatcher, { url, headers: sent, body, timeouts, target }, signal);
    let isWhole = false;
    try {
      const head = await exchange.head();
      if (head.status !== 200) {
        const { text } = await exchange.text(longestErrorBody);
        throw statusFailure(target, head.status, text, head.header("retry-after"));
      }
      exchange.firstPartCame();
      const { bytes, complete } = await exchange.bytes(longestAnswer);
      if (!complete) throw failure("garbage", target, `an answer of more than ${longestAnswer} bytes`);
      isWhole = true;
      return { contentType: head.header("content-type") ?? "", bytes };
    } finally {
      exchange.close(isWhole);
    }
  };
}
