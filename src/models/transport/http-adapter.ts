import type { Dispatcher } from "undici";
import { parseExactly } from "../../protocol/base/exact-json.ts";
import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelPart, ModelRequest, ModelStream } from "../../protocol/agents/models.ts";
import { omitFields } from "./adapter.ts";
import type { Adapter, OmittedFields, Timeouts } from "./adapter.ts";
import { AnswerWriter } from "./answer-writer.ts";
import type { ContextSize } from "./context-size.ts";
import { shownUrl } from "./endpoint.ts";
import { HttpExchange } from "./http-exchange.ts";
import { type PlainNames, withPlainNames } from "./plain-names.ts";
import { LineBuffer, LineTooLong } from "./framing.ts";
import { failure, providerFailure, statusFailure } from "./upstream-error.ts";
import type { Target } from "./upstream-error.ts";
import { StreamCutOff, NotTheProtocol, ProviderError, UnsupportedRequest } from "./wire.ts";
import type { AnswerReader, Wire } from "./wire.ts";

const longestLine = 8 << 20;
const longestBody = 32 << 20;
const longestErrorBody = 64 << 10;

/** What all models of one registry share. */
export type ModelTransport = {
  readonly dispatcher: Dispatcher;
  /** Instead of the provider's defaults. */
  readonly timeouts: Partial<Timeouts>;
  /** Whether requests to it come to this very server. */
  readonly isOwn?: (url: URL) => boolean;
};

export type HttpAdapterOptions = {
  readonly wire: Wire;
  /** Under which it is configured. */
  readonly id: string;
  readonly name: string;
  readonly context: ContextSize;
  readonly timeouts: Timeouts;
  readonly dispatcher: Dispatcher;
  readonly isOwn?: ModelTransport["isOwn"];
};

/** An adapter that posts to a provider and reads its stream. */
export function createHttpAdapter(options: HttpAdapterOptions): Adapter {
  const { wire, id, name, context, dispatcher, timeouts } = options;
  const target: Target = { id, provider: wire.provider, model: name, endpoint: shownUrl(wire.url) };
  const headers = { "content-type": "application/json", "accept-encoding": "identity", ...wire.headers };
  // Fields this provider was seen to refuse as such: no later request pays for learning it again.
  let refused: OmittedFields = new Set();

  async function* stream(given: ModelRequest, signal: AbortSignal, leftOut: OmittedFields): ModelStream {
    const { request, restored }: PlainNames = wire.takesAnyName ? { request: given } : withPlainNames(given);
    const without = refused.size === 0 ? leftOut : omitFields(leftOut, refused);
    const parent = options.isOwn?.(wire.url) ? request.origin?.parent?.() : undefined;
    const sent = parent ? { ...headers, [parent[0]]: parent[1] } : headers;
    const answer = new AnswerWriter(request);
    const reader = wire.reader(answer, request, without);
    let body: object | undefined = bodyOf(request, without);
    while (body) {
      const post = { url: wire.url, headers: sent, body: JSON.stringify(body), timeouts, target };
      const exchange = new HttpExchange(dispatcher, post, signal);
      try {
        const head = await exchange.head();
        if (head.status !== 200) {
          const { text } = await exchange.text(longestErrorBody);
          throw statusFailure(target, head.status, text, head.header("retry-after"));
        }
        const type = head.header("content-type") ?? "";
        if (/^(text\/html|application\/json)/i.test(type)) {
          const batch = await readWhole(exchange, type, reader, answer);
          if (batch.length > 0) yield restored?.(batch) ?? batch;
        } else {
          const next = readStream(exchange, reader, answer);
          for (let batch = await next(); batch; batch = await next()) yield restored?.(batch) ?? batch;
        }
      } catch (error) {
        throw asModelError(error);
      } finally {
        exchange.close(answer.finished || reader.paused === true);
      }
      body = reader.paused ? reader.goOn?.(body) : undefined;
    }
  }

  function bodyOf(request: ModelRequest, leftOut: OmittedFields): object {
    try {
      return wire.body(request, leftOut);
    } catch (error) {
      throw error instanceof UnsupportedRequest ? failure("refused", target, error.message) : error;
    }
  }

  /** Each call gives the next batch, undefined at the end. No generator: one within another takes more turns for every batch. */
  function readStream(
    exchange: HttpExchange,
    reader: AnswerReader,
    answer: AnswerWriter,
  ): () => Promise<readonly ModelPart[] | undefined> {
    const lines = new LineBuffer(longestLine);
    const framing = wire.framing((data) => {
      if (answer.finished) return;
      reader.event(data === "[DONE]" ? data : parse(data));
    });
    let begun = false;
    return async () => {
      while (!answer.finished && !reader.paused) {
        let chunks: readonly Buffer[] | undefined;
        try {
          chunks = await exchange.read();
        } catch (error) {
          if (!isOnlyTheEnd(error, reader)) throw error;
        }
        if (chunks === undefined) {
          framing.end(lines.rest());
          if (!answer.finished && !reader.paused) reader.end();
        } else {
          for (const chunk of chunks) framing.push(lines.push(chunk));
        }
        const batch = answer.take();
        if (batch.length === 0) continue;
        if (!begun) exchange.firstPartCame();
        begun = true;
        return batch;
      }
      return undefined;
    };
  }

  function asModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (error instanceof ProviderError) return providerFailure(target, error.error);
    if (error instanceof StreamCutOff) return failure("cut", target, "the answer broke off before its end mark");
    if (error instanceof NotTheProtocol || error instanceof LineTooLong) {
      return failure("garbage", target, `not the protocol of provider ${wire.provider}: ${error.message}`);
    }
    throw error;
  }

  return {
    provider: wire.provider,
    name,
    get contextTokens() {
      return context.tokens;
    },
    get contextFrom() {
      return context.from;
    },
    ready: () => context.ready?.(),
    stream,
    adapt(error, leftOut) {
      if (error.upstreamStatus !== 400 && error.upstreamStatus !== 422) return undefined;
      const said = error.cause instanceof Error ? error.cause.message : error.message;
      const more = wire.adapt?.(said, omitFields(leftOut, refused));
      if (more && refusedAsSuch.test(said)) refused = omitFields(refused, more);
      return more;
    },
  };
}

async function readWhole(
  exchange: HttpExchange,
  type: string,
  reader: AnswerReader,
  answer: AnswerWriter,
): Promise<readonly ModelPart[]> {
  const { text, complete } = await exchange.text(longestBody);
  if (!complete) throw new NotTheProtocol(`an answer of more than ${longestBody} bytes`);
  if (!/json/i.test(type)) throw new NotTheProtocol("an HTML page instead of an API answer; is baseUrl right?");
  reader.whole(parse(text));
  return answer.take();
}

/** Wording about the field, not about the value it had. */
const refusedAsSuch =
  /unsupported|not support|n't support|not permitted|not allowed|unknown|unrecognized|unexpected|extra (fields|inputs)|incompatible/i;

/** Lost or silent after the answer was told: only the end mark is missing, and the reader knows if it may be. */
function isOnlyTheEnd(error: unknown, reader: AnswerReader): boolean {
  return error instanceof ModelError && (error.kind === "cut" || error.kind === "timeout") && reader.complete;
}

/** What holds calls may hold their arguments as JSON of its own: their numbers stay as they were written. */
function parse(text: string): unknown {
  try {
    return text.includes('"tool_') ? parseExactly(text) : JSON.parse(text);
  } catch {
    throw new NotTheProtocol(`no JSON in ${JSON.stringify(text.slice(0, 80))}`);
  }
}
