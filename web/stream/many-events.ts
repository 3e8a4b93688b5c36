import { messageOf, Unavailable } from "../../src/protocol/base/errors.ts";
import { ask, type ServerAccess } from "../../src/client/request.ts";
import { createSseParser } from "../../src/client/sse.ts";
import type { SubjectPlace } from "./stream-messages.ts";

/** One event of a connection: of which of the subjects, and that one's cursor after it. */
type ManyEvent = {
  readonly type: string;
  readonly data: string;
  readonly number: number;
  readonly cursor: string | undefined;
};

/** The server sends at least a comment every 15 s, and after an event at the latest in 30: a longer silence is a lost connection. */
const silenceMs = 35_000;

/** The events of one connection that follows all of them. Throws the server's error, or Unavailable once it is lost. */
export async function* followMany(
  server: ServerAccess,
  places: readonly SubjectPlace[],
  signal: AbortSignal,
): AsyncGenerator<ManyEvent> {
  const silence = new AbortController();
  let heardAt = Date.now();
  // A machine that slept has lost its connections, and knows by the clock.
  const timer = setInterval(() => Date.now() - heardAt > silenceMs && silence.abort(), silenceMs / 7);
  try {
    const { body } = await ask(server, "/api/events", {
      method: "POST",
      headers: { accept: "text/event-stream" },
      body: {
        subjects: places.map(({ subject, cursor }) => ({ ...subject, ...(cursor !== undefined && { cursor }) })),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const parse = createSseParser();
    const decoder = new TextDecoder();
    const reader = body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      heardAt = Date.now();
      for (const { type, data, id = "" } of parse(decoder.decode(value, { stream: true }))) {
        const [number, cursor] = id.split(" ", 2);
        yield { type, data, number: Number(number), cursor };
      }
    }
  } catch (error) {
    if (silence.signal.aborted)
      throw new Unavailable(`the event stream broke off: ${messageOf(error)}`, { cause: error });
    throw error;
  } finally {
    clearInterval(timer);
  }
}
