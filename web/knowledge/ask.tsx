import { useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { KnowledgeAnswer } from "../../src/protocol/knowledge/passages.ts";
import type { CollectionView } from "../../src/protocol/knowledge/collections.ts";
import type { RetrievalMode } from "../../src/protocol/knowledge/chunks.ts";
import { useAnswer } from "../parts/answers.ts";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { EarlierQuestions } from "./earlier-questions.tsx";
import { FoundPassages } from "./found-passages.tsx";
import { retrievalNames } from "./knowledge-names.ts";
const retrievals = Object.keys(retrievalNames) as RetrievalMode[];

/** A question to one collection or some: what is found, and how. An answer has its address. */
export function Ask({ collections }: { readonly collections: readonly CollectionView[] }) {
  const query = useQuery();
  const traceId = query.get("trace");
  const [answer, setAnswer] = useState<KnowledgeAnswer>();
  if (collections.length === 0)
    return (
      <p>
        {t`Nothing to search yet. Create a collection first.`}{" "}
        <PageLink to="/knowledge?new=1">{t`New collection`}</PageLink>
      </p>
    );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <Question
        collections={collections}
        onAnswer={(next) => {
          setAnswer(next);
          changeQuery({ trace: next.id, show: "ask" });
        }}
      />
      {traceId !== null &&
        (answer?.id === traceId ? (
          <FoundPassages key={traceId} trace={answer.trace} passages={answer.passages} />
        ) : (
          <Kept key={traceId} id={traceId} />
        ))}
      <EarlierQuestions current={traceId} newest={answer?.id} />
    </div>
  );
}

/** As it was kept. */
function Kept({ id }: { readonly id: string }) {
  const loaded = useAnswer(["trace", id], (signal) => client.knowledge.trace(id, signal));
  if (!loaded.data) return <Waiting of={loaded} />;
  return <FoundPassages trace={loaded.data.trace} />;
}

type KnowledgeQuestionProps = {
  readonly collections: readonly CollectionView[];
  readonly onAnswer: (answer: KnowledgeAnswer) => void;
};

function Question({ collections, onAnswer }: KnowledgeQuestionProps) {
  const [question, setQuestion] = useState("");
  const [by, setBy] = useState("");
  const [limit, setLimit] = useState("8");
  const [isBusy, setBusy] = useState(false);
  const asking = useRef<AbortController>(undefined);
  // Whoever goes elsewhere meanwhile is not led back by an answer.
  useEffect(() => () => asking.current?.abort(), []);
  const chosen = new Set((useQuery().get("in") ?? "").split(",").filter((each) => each !== ""));
  const only = collections.length === 1 ? collections[0] : undefined;

  async function ask(): Promise<void> {
    setBusy(true);
    asking.current = new AbortController();
    try {
      const ids = only ? [only.id] : collections.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
      const retrieval = retrievals.find((each) => each === by);
      onAnswer(
        await client.knowledge.query(
          {
            question,
            limit: Number(limit),
            ...(ids.length > 0 && { collections: ids }),
            ...(retrieval && { retrieval }),
          },
          asking.current.signal,
        ),
      );
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="max-w-prose text-muted">{t`Shows what agents find with the tool rag: the passages, and how each was found.`}</p>
      <Form name={t`Test a query`} submit={isBusy ? t`Searching…` : t`Search`} onSubmit={ask}>
        <Field label={t`Question`} isWide>
          {(control) => (
            <textarea
              {...control}
              dir="auto"
              className="field w-full max-w-3xl text-ink"
              style={{ minHeight: "3.5em", fontFamily: "inherit", fontSize: 16 }}
              rows={2}
              maxLength={4000}
              required
              placeholder={t`Where do herons wait for their food?`}
              value={question}
              onChange={(event) => setQuestion(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }}
            />
          )}
        </Field>
        {!only && (
          <fieldset className="basis-full">
            <legend className="text-xs text-muted">
              {t`In`} {chosen.size === 0 && t`all collections`}
            </legend>
            <div className="flex max-h-40 flex-wrap gap-x-4 overflow-y-auto">
              {collections.map(({ id, name }) => (
                <label key={id} className="flex min-h-7 items-center gap-2">
                  <input
                    type="checkbox"
                    className="size-4"
                    checked={chosen.has(id)}
                    onChange={({ target }) => {
                      const next = new Set(chosen);
                      if (target.checked) next.add(id);
                      else next.delete(id);
                      changeQuery({ in: [...next].join(",") });
                    }}
                  />
                  {name}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <ChoiceField
          label={t`Search by`}
          value={by}
          onChange={setBy}
          options={[
            ["", t`as set for each collection`],
            ...retrievals.map((each) => [each, retrievalNames[each]] as const),
          ]}
        />
        <TextField label={t`Passages`} type="number" value={limit} onChange={setLimit} isNeeded />
      </Form>
    </section>
  );
}
