import { type ComponentType, useEffect, useState } from "react";
import { plural, t } from "@lingui/core/macro";
import { duration } from "../parts/format.ts";
import { type DisplayedCall, type CallWithQuestion, timeOfCalls } from "./arrange-blocks.ts";
import { shortArguments } from "./call-state.ts";
import { RunLink } from "./tool-line.tsx";
import { ElapsedTime } from "../conversation/elapsed-time.tsx";

type GroupProps = { readonly calls: readonly CallWithQuestion[]; readonly show: ComponentType<DisplayedCall> };

/** Calls in a row, in one line that opens to a line for each. */
export function ToolGroup({ calls, show: Show }: GroupProps) {
  const isAsking = calls.some(({ question }) => question !== undefined && question.decision === undefined);
  const [isOpen, setOpen] = useState(isAsking);
  useEffect(() => {
    if (isAsking) setOpen(true);
  }, [isAsking]);
  const last = calls.findLast(({ call }) => !call.result);
  const running = last?.call;
  const failed = calls.filter(({ call }) => call.result?.isError).length;
  const runs = new Set(calls.map(({ call }) => call.run));
  const run = runs.size === 1 ? calls[0]?.call.run : undefined;
  const names = [...new Set(calls.map(({ call }) => call.name))].join(", ");
  return (
    <details className="tool-line" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="whitespace-nowrap">
          {plural({ count: calls.length }, { one: "# call", other: "# calls" })}
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-muted">
          {running ? `${running.name} ${shortArguments(running.arguments)}` : names}
        </span>
        {failed > 0 && <span className="whitespace-nowrap text-bad">✗ {t`${{ count: failed }} failed`}</span>}
        <span className="whitespace-nowrap text-muted">
          {isAsking ? (
            <span className="text-warn">▲ {t`needs your input`}</span>
          ) : last?.isHeld ? (
            <>… {t`needs your approval`}</>
          ) : running ? (
            <>
              … {t`running`}
              <ElapsedTime since={running.startedAt} />
            </>
          ) : calls.every(({ call }) => call.kept !== undefined) ? (
            t`kept`
          ) : (
            calls.every(({ call }) => call.run !== undefined) && duration(timeOfCalls(calls))
          )}
        </span>
      </summary>
      {isOpen && (
        <div className="call-inside">
          {calls.map((each) => (
            <Show key={each.call.key} {...each} isInGroup={run !== undefined} />
          ))}
          {run !== undefined && <RunLink run={run} />}
        </div>
      )}
    </details>
  );
}
