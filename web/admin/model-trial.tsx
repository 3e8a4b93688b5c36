import type { ModelTrial } from "../../src/protocol/agents/trials.ts";
import { adminWords } from "./admin-words.ts";
import type { FieldSpec } from "./definition-fields.ts";
import { duration } from "../parts/format.ts";
import { State } from "../parts/state.tsx";
import { words } from "../words/words.ts";

const texts = adminWords.models;

export const modelFields: readonly FieldSpec[] = [
  { key: "provider", label: texts.provider, kind: "choice", choices: ["openai", "ollama", "anthropic"] },
  { key: "baseUrl", label: texts.baseUrl, kind: "line", hint: "http://localhost:11434" },
  { key: "model", label: texts.name, kind: "line" },
  { key: "apiKey", label: texts.apiKey, kind: "secret" },
];

/** What a model answered when it was tried, or what went wrong and what to do. */
export function Trial({ trial }: { readonly trial: ModelTrial }) {
  if (trial.ok)
    return (
      <p role="status">
        {trial.text.trim() === "" ? (
          <State grade="warn">{words.turn.wordless}</State>
        ) : (
          <>
            <State grade="ok">{texts.answered(duration(trial.firstPartMs), duration(trial.totalMs))}</State> “
            {trial.text.slice(0, 300)}”
          </>
        )}
      </p>
    );
  return (
    <div role="alert">
      <State grade="bad">{trial.error}</State>
      <p>{trial.advice}</p>
    </div>
  );
}
