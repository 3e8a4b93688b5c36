import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { JsonSchema } from "../../src/protocol/agents/models.ts";
import { type FormDraft, draftOf, fieldsOf, readForm } from "../parts/forms/schema-fields.ts";
import { Form } from "../parts/forms/form.tsx";
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
  const { value, problems } = readForm(fields, draft);
  return (
    <fieldset disabled={isBusy} className="mt-2">
      <Form
        name={t`Answer`}
        submit={t`Answer`}
        onSubmit={async () => onAnswer(JSON.stringify(value))}
        beside={
          <button type="button" className="button" onClick={onDecline}>
            {t`Decline`}
          </button>
        }
      >
        <SchemaForm fields={fields} draft={draft} onChange={setDraft} problems={problems} />
      </Form>
    </fieldset>
  );
}
