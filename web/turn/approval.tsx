import { Check, CheckCheck, ChevronDown, KeyRound } from "lucide-react";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { QuestionBody } from "../../src/protocol/threads/items.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { goTo } from "../page/path.ts";
import { MenuBehind } from "../parts/menus/menu.tsx";
import { language } from "../browser/language.ts";
import { reasonText } from "../conversation/why-failed.ts";
import { prettyJson } from "./call-state.ts";

type ApprovalProps = {
  readonly body: QuestionBody;
  readonly isBusy: boolean;
  readonly onDecide: (input: DecisionInput) => void;
};

/** Whether a call may be made, and with what: the arguments can be changed here. */
export function Approval({ body, isBusy, onDecide }: ApprovalProps) {
  const [given] = useState(() => prettyJson(body.arguments ?? ""));
  const [text, setText] = useState(given);
  const [why, setWhy] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const isChanged = text !== given;

  const isFromOutside = body.outside !== undefined && body.outside.length > 0;

  function allow(more: Pick<DecisionInput, "always" | "here" | "read"> = {}): void {
    if (isBusy) return;
    if (isChanged && !isJson(text)) return setProblem(t`This is not valid JSON.`);
    setProblem(undefined);
    onDecide({
      decision: "allow",
      ...(isChanged ? { arguments: text } : {}),
      ...more,
      ...(body.argumentsHash === undefined ? {} : { argumentsHash: body.argumentsHash }),
    });
  }

  return (
    <>
      <label className="mt-2 block text-sm text-muted">
        {t`Arguments`}
        <textarea
          dir="ltr"
          className="field field-sizing max-h-96 w-full font-mono text-xs text-ink"
          rows={Math.min(12, text.split("\n").length)}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button-main" disabled={isBusy} onClick={() => allow()}>
          {t`Allow`}
        </button>
        {!isChanged && !body.eachTime && (
          <MenuBehind
            name={t`Always allow…`}
            look="button"
            entries={[
              { name: t`This exact call`, icon: Check, onChoose: () => allow({ always: true }) },
              ...(body.tool === undefined
                ? []
                : [
                    {
                      name: t`Every call of ${{ tool: body.tool }}`,
                      icon: CheckCheck,
                      onChoose: () => allow({ always: {} }),
                    },
                  ]),
              { name: t`Show what is always allowed`, icon: KeyRound, onChoose: () => goTo("/settings/access") },
            ]}
          >
            {t`Always allow…`} <ChevronDown size={14} aria-hidden />
          </MenuBehind>
        )}
        {body.receivers && (
          <button type="button" className="button" disabled={isBusy} onClick={() => allow({ here: true })}>
            {t`Always allow ${{ to: shownNames(body.receivers) }} here`}
          </button>
        )}
        {isFromOutside && (
          <button type="button" className="button" disabled={isBusy} onClick={() => allow({ read: true })}>
            {t`Allow: I have read this`}
          </button>
        )}
        {why === undefined ? (
          <button type="button" className="button" disabled={isBusy} onClick={() => setWhy("")}>
            {`${t`Deny`} …`}
          </button>
        ) : (
          <form
            className="flex grow gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              onDecide({ decision: "deny", ...(why === "" ? {} : { text: why }) });
            }}
          >
            <input
              autoFocus
              dir="auto"
              className="field min-w-0 grow"
              aria-label={t`Reason (optional)`}
              placeholder={t`Reason (optional)`}
              value={why}
              onChange={(event) => setWhy(event.target.value)}
            />
            <button type="submit" className="button" disabled={isBusy}>
              {t`Deny`}
            </button>
          </form>
        )}
      </div>
    </>
  );
}

/** What is asked, in the reader's language where the server asks and not a tool. */
export function questionText({ text, tool, outside, receivers, reason, limit, sandbox }: QuestionBody): string {
  if (reason === "limit" && language !== "en") return reasonText(`limit_${limit}`) ?? text;
  if (tool === undefined) return text;
  if (outside && outside.length > 0) {
    const from = outside.join(", ");
    if (!receivers)
      return t`This conversation has read external content (${from}), which may have prompted this action. Allow ${tool} to be called with these arguments?`;
    return t`This conversation has read external content (${from}), which may have prompted this action. Allow ${tool} to send data to ${{ to: shownNames(receivers) }} with these arguments?`;
  }
  if (language === "en") return text;
  if (reason === "approval") {
    const asked = t`Allow ${tool} to be called with these arguments?`;
    return sandbox ? `${asked} ${t`It runs in ${{ driver: sandbox.driver }} (${{ grade: sandbox.grade }}).`}` : asked;
  }
  const unknown = `It is not known whether ${tool} was done.`;
  if (reason !== "unknown" || !text.startsWith(unknown)) return text;
  return `${t`It is not known whether ${tool} was done.`}${text.slice(unknown.length)}`;
}

/** A server of tools by its name. */
function shownNames(receivers: readonly string[]): string {
  return receivers.map((receiver) => receiver.replace(/^mcp:/, "")).join(", ");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
