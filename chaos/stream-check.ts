import type { RunEvent } from "../src/protocol/threads/events.ts";

type Told = { attempt: number; text: string };

/** What one follower was told of a run, held against the promise: no gap, no repeat within an attempt, text as stored. */
export type StreamCheck = {
  /** Where it was followed from, and each time again: cursors. */
  readonly begun: string[];
  readonly hear: (event: RunEvent) => void;
  readonly faults: readonly string[];
  /** Of the items that were told, in order. */
  readonly seqs: readonly number[];
  readonly retries: () => number;
};

export function createStreamCheck(): StreamCheck {
  const told = new Map<string, Told>();
  const faults: string[] = [];
  const seqs: number[] = [];
  let retries = 0;

  function hearText(event: Extract<RunEvent, { offset: number }>): void {
    const { step, attempt, offset, text } = event;
    const known = told.get(step);
    if (known && known.attempt !== attempt && known.text !== "")
      faults.push(`step ${step}: attempt ${attempt} began, and attempt ${known.attempt} was not withdrawn`);
    const before = known?.attempt === attempt ? known.text : "";
    if (offset !== before.length)
      faults.push(`step ${step}: text at ${offset}, but ${before.length} characters were told`);
    told.set(step, { attempt, text: before + text });
  }

  function hearMessage({ item }: Extract<RunEvent, { type: "message" }>): void {
    if (item.step === null) return;
    const text = told.get(item.step)?.text ?? "";
    if (text !== item.body.content)
      faults.push(`step ${item.step}: told ${JSON.stringify(text)}, stored ${JSON.stringify(item.body.content)}`);
    told.delete(item.step);
  }

  return {
    begun: [],
    hear(event) {
      if ("seq" in event) {
        if (event.seq <= (seqs.at(-1) ?? 0)) faults.push(`item ${event.seq} came after ${seqs.at(-1)}`);
        seqs.push(event.seq);
      }
      if (event.type === "text-delta") hearText(event);
      else if (event.type === "message") hearMessage(event);
      else if (event.type === "step-retry") {
        retries++;
        const known = told.get(event.step);
        if (known && known.text !== "" && known.attempt !== event.attempt)
          faults.push(`step ${event.step}: attempt ${event.attempt} was withdrawn, but ${known.attempt} was told`);
        told.delete(event.step);
      } else if (event.type === "run-end") {
        for (const [step, { text }] of told)
          if (text !== "") faults.push(`step ${step}: told, and never stored or withdrawn`);
      }
    },
    faults,
    seqs,
    retries: () => retries,
  };
}
