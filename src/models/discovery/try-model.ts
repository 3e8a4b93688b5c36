import type { ModelTrial } from "../../protocol/agents/trials.ts";
import { ColloquyError, ModelError, type ModelErrorKind, messageOf } from "../../protocol/base/errors.ts";
import type { FinishReason, Model, ModelRequest, Usage } from "../../protocol/agents/models.ts";

const advice: Readonly<Record<ModelErrorKind, string>> = {
  refused: "The server does not take the request: check the model's name, which has to be one that the server knows.",
  context: "The prompt is too long for the model.",
  auth: "The key is missing, wrong or not for this model: check its key (apiKey).",
  "rate-limit": "The provider takes no more requests for now: wait, or look at the account's limits there.",
  overloaded: "The server is busy or still loading the model: try again in a while.",
  unreachable:
    "Nothing answers at this address: check baseUrl, and whether the Colloquy server (not your browser) can reach it.",
  timeout: "The server took too long: it may still be loading the model; try again, or raise timeouts.firstPartMs.",
  cut: "The answer broke off: a proxy between may end long answers.",
  garbage: "The server doesn't speak this protocol: check provider and baseUrl.",
  server: "The server failed: its own log says more.",
  aborted: "It was stopped.",
};

const refusedAddress = "No request was sent: models defined here must be at addresses that the operator allows.";

function adviceOn(error: unknown): string {
  if (!(error instanceof ModelError)) return advice.server;
  const isRefused = error.cause instanceof ColloquyError && error.cause.code === "address_refused";
  return isRefused ? refusedAddress : advice[error.kind];
}

/** One short answer of a model, with what it took; a failure is a value, in words that say what to do. */
export async function tryModel(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelTrial> {
  const begun = performance.now();
  const since = () => Math.round(performance.now() - begun);
  let firstPartMs: number | undefined;
  let [text, reasoning, served] = ["", 0, model.id];
  let finish: { readonly reason: FinishReason; readonly usage: Usage } | undefined;
  try {
    for await (const parts of model.stream(request, signal))
      for (const part of parts) {
        if (part.type === "start") served = part.model;
        else firstPartMs ??= since();
        if (part.type === "text") text += part.text;
        else if (part.type === "reasoning") reasoning += part.text.length;
        else if (part.type === "finish") finish = part;
      }
  } catch (error) {
    const code = error instanceof ModelError ? error.code : "model_server";
    return { ok: false, code, error: messageOf(error), advice: adviceOn(error), totalMs: since() };
  }
  const usage = finish?.usage ?? { inputTokens: 0, outputTokens: 0, estimated: true };
  const times = { firstPartMs: firstPartMs ?? since(), totalMs: since() };
  return { ok: true, model: served, text, reasoning, finish: finish?.reason ?? "other", ...times, usage };
}
