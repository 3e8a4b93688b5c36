import { allCallsOf, textOf } from "../script.ts";
import type { Submission } from "./load.ts";
import type { Outside } from "./outside.ts";

export type Findings = {
  readonly accepted: number;
  readonly finished: number;
  /** Ended with an error, though all that was wrong went by. */
  readonly failed: readonly string[];
  readonly lost: readonly string[];
  /** Writes that happened more than once, at the address that looks at no key and at the one that honours it. */
  readonly doubled: { readonly plain: readonly string[]; readonly keyed: readonly string[] };
  readonly stuck: readonly string[];
  /** Undefined if there is no stream that outlives its process. */
  readonly gaps: readonly string[] | undefined;
  readonly unknownSaid: number;
  readonly unknownSilent: readonly string[];
};

/** Holds what the clients saw against what happened outside. */
export function judge(submissions: readonly Submission[], outside: Outside): Findings {
  // Some trim what they keep, which loses nothing.
  const answerOf = ({ script }: Submission) => textOf(script, script.rounds.length).join("").trimEnd();
  const answered = ({ seen }: Submission) => seen.answer?.trimEnd() ?? "";
  const named = ({ id, script }: Submission, what: string) => `run ${id} (${script.tag}) ${what}`;
  const missing = ({ script }: Submission) =>
    allCallsOf(script).filter(({ name, effect }) => name !== "look" && outside.countOf(effect) === 0);
  const ended = (status: string) => submissions.filter(({ seen }) => seen.status === status);

  const lost = [
    ...ended("gone").map((each) => named(each, "is gone")),
    ...ended("done").flatMap((each) => [
      ...(answered(each) === answerOf(each)
        ? []
        : [named(each, `answered ${answered(each).length} characters; the model said ${answerOf(each).length}`)]),
      ...missing(each).map(({ effect }) => named(each, `is done, and ${effect} never happened`)),
    ]),
  ];
  const wrong = new Set(ended("done").filter((each) => answered(each) !== answerOf(each) || missing(each).length > 0));
  const doubles = (tool: string) =>
    submissions
      .flatMap(({ script }) => allCallsOf(script))
      .filter(({ name, effect }) => name === tool && outside.countOf(effect) > 1)
      .map(({ effect }) => `${effect} happened ${outside.countOf(effect)} times`);
  // A run that ends with an error says by it that something of it is open.
  const silent = submissions
    .filter(({ seen }) => seen.status !== "failed")
    .flatMap(({ script, saidUnknown }) =>
      allCallsOf(script)
        .filter(({ name, effect }) => name === "send_plain" && !saidUnknown.has(effect))
        .filter(({ effect }) => outside.isUnclear(effect) || outside.countOf(effect) > 1),
    );
  const followed = submissions.filter((each) => each.followed !== undefined);
  return {
    accepted: submissions.length,
    finished: ended("done").filter((each) => !wrong.has(each)).length,
    failed: ended("failed").map((each) => named(each, `failed: ${each.seen.error}`)),
    lost,
    doubled: { plain: doubles("send_plain"), keyed: doubles("send_idempotent") },
    stuck: ended("running").map((each) => named(each, "did not end")),
    gaps:
      followed.length === 0
        ? undefined
        : followed
            .filter((each) => each.seen.status === "done")
            .flatMap((each) =>
              [
                ...each.followed!.faults,
                ...(each.followed!.text.trimEnd() === answerOf(each)
                  ? []
                  : [`its stream told ${each.followed!.text.slice(-60)}`]),
              ]
                .slice(0, 1)
                .map((fault) => named(each, fault)),
            ),
    unknownSaid: submissions.reduce((sum, { saidUnknown }) => sum + saidUnknown.size, 0),
    unknownSilent: silent.map(({ effect }) => effect),
  };
}
