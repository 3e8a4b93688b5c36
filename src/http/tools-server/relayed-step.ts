import { createModels } from "../../models/registry.ts";
import { Unavailable } from "../../protocol/errors.ts";
import { callIdOf } from "../../protocol/items.ts";
import { newId } from "../../protocol/ids.ts";
import type { ServedCall } from "../../protocol/tools-server.ts";
import type { ToolContext } from "../../protocol/tools.ts";
import { emptyAnswer, readAnswer } from "../../run/step.ts";

/** The other side answers only when the whole of a model's answer is there, and in its own time. */
const longestMs = 600_000;

/** Steps of a run that lives elsewhere: each goes to that server's relay, which counts and records it. */
export function relayedStep(relay: ServedCall["relay"], signal: AbortSignal): ToolContext["step"] {
  return async (request, stop) => {
    if (!relay)
      throw new Unavailable(
        "No model can be asked from here: the server that calls can't be reached back. Its server.publicUrl says where it is.",
        { code: "no_relay" },
      );
    const models = createModels({
      models: [
        {
          id: "relay",
          provider: "openai",
          baseUrl: relay.url,
          apiKey: relay.token,
          model: "colloquy",
          contextTokens: 10_000_000,
        },
      ],
      timeouts: { firstPartMs: longestMs, idleMs: longestMs },
      // What came too late was a step all the same.
      retries: 0,
    });
    try {
      const answer = emptyAnswer();
      const { model: _model, ...asked } = request;
      const both = stop ? AbortSignal.any([signal, stop]) : signal;
      await readAnswer(models.get("relay"), asked, { signal: both, answer, tell: () => {} });
      const { text, calls, finish = "other", usage, model } = answer;
      return {
        text,
        calls: calls.map((call) => ({ id: callIdOf(newId()), ...call })),
        finish,
        ...(usage ? { usage } : {}),
        model,
      };
    } finally {
      await models.close();
    }
  };
}
