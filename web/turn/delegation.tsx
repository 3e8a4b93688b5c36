import { type ComponentType, useContext } from "react";
import { t } from "@lingui/core/macro";
import type { ConversationBlock } from "../../src/client/conversation.ts";
import { Problem } from "../parts/problem.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { cost, figure } from "../parts/format.ts";
import type { CallWithQuestion } from "./arrange-blocks.ts";
import { objectIn } from "./call-state.ts";
import { speakerOf, useChildRun, useFindChild } from "./child-run.ts";
import { useConversation } from "../conversation/conversation-store.ts";
import { LongText } from "../markdown/long-text.tsx";
import { isObject } from "../markdown/made-files.ts";
import { CallDetails, Part } from "./tool-line.tsx";
import { figuresOf } from "./turn-figures.tsx";
import { filesOfThread, type TurnPlace, TurnPlaceContext } from "./turn-place.ts";
import { client } from "../page/server.ts";

/** How what an agent said and did is shown. */
type BlockRenderer = { readonly show: ComponentType<{ readonly blocks: readonly ConversationBlock[] }> };

/** Work that was handed to another agent: opened, its own conversation stands here, as it goes on. */
export function Delegation({ call, question, show }: CallWithQuestion & BlockRenderer) {
  const given = objectIn(call.arguments);
  const agent = textIn(given?.["agent"]) ?? call.name;
  const task = textIn(given?.["task"]) ?? "";
  const { open } = useConversation();
  const isUnsettled = !call.result;
  const known = isObject(call.result?.data) ? textIn(call.result.data["run"]) : undefined;
  // Whoever below it asks something, it has to be seen.
  const isAsked = isUnsettled && open.some(({ run }) => run !== call.run);
  return (
    <div data-speaker={speakerOf(agent)}>
      <CallDetails
        call={call}
        question={question}
        name={<span className="speaker font-semibold">@{agent}</span>}
        short={task.replaceAll(/\s+/g, " ").slice(0, 300)}
        isWanted={isAsked}
      >
        <div className="speaker-rule grid gap-2 text-sm">
          <Part name={t`Task`}>
            <LongText text={task} isLive={false} name={t`Task`} />
          </Part>
          <ChildFinder call={call} known={known} show={show} />
          {call.result?.isError && <Problem text={call.result.content} />}
        </div>
      </CallDetails>
    </div>
  );
}

type FinderProps = { readonly call: CallWithQuestion["call"]; readonly known: string | undefined } & BlockRenderer;

function ChildFinder({ call, known, show }: FinderProps) {
  const found = useFindChild(call, known);
  return found === undefined ? null : <ChildRun id={found} threadId={call.threadId} show={show} />;
}

function ChildRun({ id, threadId, show: Show }: { readonly id: string; readonly threadId: string } & BlockRenderer) {
  const { blocks, problem, reload } = useChildRun(id);
  const { files } = useContext(TurnPlaceContext);
  const said = blocks.filter((block) => block.kind !== "message" || block.role === "assistant");
  const sum = figuresOf(blocks);
  const place: TurnPlace = {
    files: files ?? filesOfThread(threadId),
    async decide(question, input) {
      await client.decide({ id: question.id, runId: question.run }, input);
    },
  };
  return (
    <TurnPlaceContext value={place}>
      <div className="grid gap-2" role="group" aria-label={t`Transcript`}>
        <Show blocks={said} />
      </div>
      {!blocks.some(({ kind }) => kind === "end") && sum.input + sum.output > 0 && (
        <p className="turn-figures">
          {t`${{ input: figure(sum.input) }} + ${{ output: figure(sum.output) }} tokens`}
          {sum.cost > 0 && ` · ${t`Cost ${{ cost: cost(sum.cost) }}`}`}
          <PageLink to={`/runs/${id}`} look="underline">
            {t`Run`}
          </PageLink>
        </p>
      )}
      {problem !== undefined && (
        <p className="flex items-center gap-2">
          <Problem text={problem} />
          <button type="button" className="button" onClick={reload}>
            {t`Try again`}
          </button>
        </p>
      )}
    </TurnPlaceContext>
  );
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
