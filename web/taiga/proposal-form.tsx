import { FileText } from "lucide-react";
import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { newId } from "../../src/protocol/base/ids.ts";
import { navigateUnlessLeft } from "../page/path.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { Choices } from "./choices.tsx";
import { emptyDraft, keepDraft, maxCharacters, promptOf, useDraft } from "./draft.ts";
import { taiga, withLogin } from "./login.ts";

const maxBytes = 200_000;

/** Where to, the minutes, and what else matters; then the agent plans. */
export function ProposalForm() {
  const [draft, change] = useDraft();
  const [refused, setRefused] = useState<string>();
  const [isOver, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  /** Sent again after a lost answer, the same proposal is the same run. */
  const attempt = useRef({ key: newId(), of: "" });
  const { isBusy, problem, act } = useAct(async () => {
    const of = JSON.stringify(draft);
    if (attempt.current.of !== of) attempt.current = { key: newId(), of };
    const { project, sprint } = draft;
    const leadOn = navigateUnlessLeft();
    const proposal = {
      project,
      sprint,
      prompt: promptOf(draft, t`Create user stories and tasks and add them to ${sprint}.`),
    };
    const run = await withLogin((login) => taiga.propose(login, proposal, attempt.current.key));
    // Where to stays for the next minutes.
    keepDraft({ ...emptyDraft, project, sprint });
    leadOn(`/taiga?run=${run}`);
  });

  async function take(file: File | undefined): Promise<void> {
    setRefused(undefined);
    if (!file) return;
    const isText = file.type.startsWith("text/") || /\.(txt|md|markdown)$/i.test(file.name);
    if (!isText || file.size > maxBytes)
      return setRefused(t`${{ name: file.name }} is not a text file of at most 200 kB.`);
    const text = await file.text();
    const minutes = [draft.minutes.trimEnd(), text].filter(Boolean).join("\n\n");
    change({ minutes: minutes.slice(0, maxCharacters) });
  }

  const isReady = draft.project !== "" && draft.sprint !== "" && draft.minutes.trim() !== "";
  return (
    <form
      aria-label={t`Propose`}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isBusy) act();
      }}
    >
      <Choices draft={draft} onChange={change} />
      <div
        className="taiga-drop"
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          setOver(false);
          const [file] = event.dataTransfer.files;
          if (!file) return;
          event.preventDefault();
          void take(file);
        }}
      >
        <label className="taiga-field">
          {t`Minutes`}
          <textarea
            className="field field-sizing taiga-minutes text-ink"
            placeholder={t`Paste the minutes here, or drop a text file`}
            required
            maxLength={maxCharacters}
            value={draft.minutes}
            onChange={(event) => change({ minutes: event.target.value })}
          />
        </label>
        <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1">
          <input
            ref={chooser}
            type="file"
            accept=".txt,.md,text/plain,text/markdown"
            hidden
            onChange={(event) => {
              void take(event.target.files?.[0]);
              event.target.value = "";
            }}
          />
          <button type="button" className="button" onClick={() => chooser.current?.click()}>
            <FileText size={16} aria-hidden /> {t`Choose a file`}
          </button>
          <span className="text-xs text-muted">{t`Your draft is saved in this browser.`}</span>
        </div>
        <Problem text={refused} />
      </div>
      <label className="taiga-field">
        {t`Additional instructions (optional)`}
        <textarea
          className="field field-sizing text-ink"
          rows={2}
          placeholder={t`For example: one story per customer; tasks in German`}
          maxLength={5000}
          value={draft.instructions}
          onChange={(event) => change({ instructions: event.target.value })}
        />
      </label>
      <Problem text={problem} />
      <button type="submit" className="button-main taiga-main" disabled={!isReady || isBusy}>
        {t`Propose`}
      </button>
    </form>
  );
}
