import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Records whether a request that may change something has been sent by the work that runs with it. */
export type SentFlag = { hasSent: boolean };

const running = new AsyncLocalStorage<SentFlag>();
const requests = new WeakMap<object, SentFlag>();

/** `fetch` and undici tell when a request's head goes out; node:http when an answer has come. */
const channels = [
  { made: "undici:request:create", left: "undici:client:sendHeaders" },
  { made: "http.client.request.created", left: "http.client.response.finish" },
];

/** Works whose requests count: while there are none, nobody listens to what the process sends. */
let counted = 0;

/** Runs work whose requests are recorded in `sent`. */
export async function trackRequests<Value>(sent: SentFlag, work: () => Promise<Value>): Promise<Value> {
  if (counted++ === 0) for (const { made, left } of channels) (subscribe(made, noteMade), subscribe(left, noteLeft));
  try {
    return await running.run(sent, work);
  } finally {
    if (--counted === 0)
      for (const { made, left } of channels) (unsubscribe(made, noteMade), unsubscribe(left, noteLeft));
  }
}

function noteMade(message: unknown): void {
  const sent = running.getStore();
  const request = requestIn(message);
  if (sent && request && !isReading(request)) requests.set(request, sent);
}

function noteLeft(message: unknown): void {
  const request = requestIn(message);
  const sent = request && requests.get(request);
  if (sent) sent.hasSent = true;
}

/** Runs work whose requests are not recorded: asking a model changes nothing. */
export function withoutTracking<Value>(work: () => Value): Value {
  return running.exit(work);
}

function requestIn(message: unknown): { readonly method?: unknown } | undefined {
  if (typeof message !== "object" || message === null || !("request" in message)) return undefined;
  return typeof message.request === "object" && message.request !== null ? message.request : undefined;
}

function isReading({ method }: { readonly method?: unknown }): boolean {
  return ["GET", "HEAD", "OPTIONS"].includes(String(method));
}
