import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { JsonSchema } from "../../src/protocol/agents/models.ts";
import { type FormDraft, draftOf, fieldsOf, readForm } from "../parts/forms/schema-fields.ts";
import { SchemaForm } from "../parts/forms/schema-form.tsx";

type QuestionFormProps = {
  readonly schema: JsonSchema;
  readonly isBusy: boolean;
  /** JSON text. */
  readonly onAnswer: (filledIn: string) => void;
  readonly onDecline: () => void;
};

/** A question whose answer has fields. What was typed stays until it is answered. */
export function QuestionForm({ schema, isBusy, onAnswer, onDecline }: QuestionFormProps) {
  const [fields] = useState(() => fieldsOf(schema));
  const [draft, setDraft] = useState<FormDraft>(() => draftOf(fields, undefined));
  const [isTried, setTried] = useState(false);
  const { value, problems } = readForm(fields, draft);
  return (
    <form
      className="mt-2 grid gap-3"
      aria-label={t`Answer`}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (problems.size === 0) onAnswer(JSON.stringify(value));
      }}
    >
      <SchemaForm fields={fields} draft={draft} onChange={setDraft} {...(isTried ? { problems } : {})} />
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button-main" disabled={isBusy}>
          {t`Answer`}
        </button>
        <button type="button" className="button" disabled={isBusy} onClick={onDecline}>
          {t`Decline`}
        </button>
      </div>
    </form>
  );
}
