import { loadAgents } from "../src/agents/load.ts";
import type { AgentDefinition } from "../src/protocol/agents/agents.ts";
import type { Database } from "../src/store/driver/database.ts";
import { readRunSecret, replaceRunSecret } from "../src/store/secrets/run-secrets.ts";
import { taigaSystem } from "../src/tools/taiga/access.ts";
import { createTaiga, type Taiga, type TaigaOptions } from "../src/tools/taiga/taiga.ts";

/** The tools of a Taiga as the server has them, and their agent but for the model: a script. */
export async function openTestTaiga(
  { query }: Pick<Database, "query">,
  options: Pick<TaigaOptions, "url"> & Partial<TaigaOptions>,
): Promise<Taiga & { readonly agent: AgentDefinition }> {
  const name = taigaSystem;
  const secret = "a secret of tests";
  const taiga = createTaiga({
    marker: "external_reference",
    secrets: {
      read: (runId) => readRunSecret(query, secret, { runId, name }),
      replace: (runId, text) => replaceRunSecret(query, secret, { runId, name, text }),
    },
    ...options,
  });
  const { agents } = await loadAgents({});
  return { ...taiga, agent: { ...agents.get("taiga"), model: "script" } };
}
