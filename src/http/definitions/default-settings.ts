import { isDefaultConfigured } from "../../models/choose.ts";
import { isFallback } from "../../models/config.ts";
import type { AgentRegistry } from "../../protocol/agents.ts";
import type { DefaultKind, DefaultView } from "../../protocol/definitions.ts";
import type { StoredDefinition } from "../../store/definitions.ts";
import { newRow } from "./check-draft.ts";
import type { Definitive } from "./live-definitions.ts";
import type { ParsePolicy } from "./parse-definition.ts";
import { defaultOf, resolveDefinitions } from "./resolve.ts";

export function readDefault(of: DefaultKind, now: Definitive, agents: AgentRegistry): DefaultView {
  const row = now.rows.find(({ kind, id }) => kind === "default" && id === of);
  const wanted = defaultOf(row?.body);
  const revision = row?.revision ?? null;
  if (of === "agent" && now.base.defaultAgent) {
    const { id, ...place } = now.base.defaultAgent;
    const isThere = agents.has(id);
    const problem = isThere ? null : `there is no agent "${id}"`;
    return { of, value: isThere ? id : null, ...place, readOnly: true, revision, problem };
  }
  if (of === "agent") {
    const isThere = wanted !== undefined && agents.has(wanted);
    const problem = wanted !== undefined && !isThere ? `there is no agent "${wanted}" any more` : null;
    const source = row ? "database" : "built-in";
    return { of, value: isThere ? wanted : null, source, where: null, readOnly: false, revision, problem };
  }
  const config = now.resolved.choice.models.find(({ id }) => id === "default");
  const value = config && isFallback(config) ? (config.fallback[0] ?? null) : "default";
  const problem = wanted !== undefined && wanted !== value ? `"${wanted}" is set, but does not count` : null;
  if (isDefaultConfigured(now.base))
    return { of, value, ...now.base.placeOf("model", "default"), readOnly: true, revision, problem };
  const source = row && problem === null ? "database" : "built-in";
  return { of, value, source, where: null, readOnly: false, revision, problem };
}

/** Whether a model, as the default, would lead back to the default: a chain that names it. */
export function leadsToItself(value: string, { base, rows, resolved }: Definitive, policy: ParsePolicy): boolean {
  const row: StoredDefinition = { ...newRow, kind: "default", id: "model", body: { id: value } };
  const others = rows.filter(({ kind, id }) => kind !== "default" || id !== "model");
  const refused = (entries: typeof resolved.entries) => entries.filter(({ state }) => state === "refused").length;
  return refused(resolveDefinitions(base, [...others, row], policy).entries) > refused(resolved.entries);
}
