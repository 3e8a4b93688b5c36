import { ModelError } from "../../protocol/base/errors.ts";
import type { Model, ModelRequest, ModelStream } from "../../protocol/agents/models.ts";
import type { ServedModel } from "./serve.ts";

/**
 * A chain: the next model is asked when one fails before anything of its answer was told. Any failure but our own
 * abort goes on, a refused request too: what one provider refuses (a field, a length, a picture) may suit another.
 */
export function createFallback(id: string, models: readonly [ServedModel, ...ServedModel[]]): Model {
  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const failures: ModelError[] = [];
    for (const [position, model] of models.entries()) {
      let told = false;
      try {
        const last = position === models.length - 1;
        for await (const batch of model.serve(request, signal, { asked: id, last })) {
          told = true;
          yield batch;
        }
        return;
      } catch (error) {
        if (told || !(error instanceof ModelError) || error.kind === "aborted") throw error;
        failures.push(error);
      }
    }
    throw allFailed(id, failures);
  }

  /** What one server ranks or says is not what another one would, so there is no chain of them. */
  const able = models.find(({ pass }) => pass);
  const servers = models.flatMap((model) => model.servers ?? []);
  return {
    id,
    provider: "fallback",
    name: id,
    members: models.map((model) => model.id),
    get contextTokens() {
      return Math.min(...models.map((model) => model.contextTokens));
    },
    ready() {
      const asked = models.flatMap((model) => model.ready?.() ?? []);
      return asked.length > 0 ? Promise.all(asked).then(() => undefined) : undefined;
    },
    ...(servers.length > 0 && { servers: [...new Set(servers)] }),
    ...(models[0].demo && { demo: true }),
    ...(able?.pass && { pass: able.pass }),
    stream,
  };
}

/** The first model is the one that was wanted, so its failure gives the kind. */
function allFailed(id: string, failures: readonly ModelError[]): ModelError {
  const [first, ...others] = failures as [ModelError, ...ModelError[]];
  if (others.length === 0) return first;
  const told = failures.map((failure) => failure.message).join("; ");
  return new ModelError(first.kind, `All ${failures.length} models of "${id}" failed. ${told}`, {
    cause: first,
    upstreamStatus: first.upstreamStatus,
    retryable: failures.some((failure) => failure.retryable),
    retryAfterSeconds: first.detail.retryAfterSeconds,
    server: first.server,
  });
}
