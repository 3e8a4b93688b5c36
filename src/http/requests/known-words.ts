import { InvalidInput } from "../../protocol/base/errors.ts";
import { similarNames } from "../../protocol/base/similar-names.ts";
import { isWord, wordsFor } from "../../protocol/base/scopes.ts";
import type { Services } from "../server/services.ts";

type ReferenceSources = Pick<Services, "agents" | "models" | "tools">;

/** Throws InvalidInput `unknown_scope` for the first word that says nothing here, so that a key is not made for nothing. */
export function checkScopes(words: readonly string[], { agents, models, tools }: ReferenceSources): void {
  const listed = tools.list();
  // What another system gives, no key can.
  const demanded = listed.flatMap(({ rights, permissions }) => (rights === undefined ? permissions : []));
  const wrong = words.find((word) => !isWord(word, demanded));
  if (wrong === undefined) return;
  const things = [
    ...agents.list().map(({ id }) => `agent:${id}`),
    ...models.list().map(({ id }) => `model:${id}`),
    ...listed.map(({ name }) => `tool:${name}`),
  ];
  const near = similarNames(wrong, new Set([...wordsFor(things), ...demanded]));
  const advice =
    near.length > 0
      ? `Did you mean ${near.join(" or ")}?`
      : "Say it as threads:read or knowledge:*, as agents:coder for an agent (models:, tools:, collections: and rooms: likewise), " +
        "or as the permission that a tool demands.";
  throw new InvalidInput(`${JSON.stringify(wrong)} is not a scope. ${advice}`, {
    code: "unknown_scope",
    param: "scopes",
  });
}
