import type { RunEvent } from "../protocol/threads/events.ts";
import { textOf } from "../protocol/threads/items.ts";

/** Of the answer a piece as it comes, the end of such a message, or a whole one; what is done beside it; how something ended. */
export type OutputPiece = { readonly kind: "text" | "break" | "line" | "activity" | "outcome"; readonly text: string };

export type RunPrinter = {
  /** It belongs to the run: is its own, or of a turn of a room's member within it. */
  readonly isOf: (event: RunEvent) => boolean;
  readonly tell: (event: RunEvent) => readonly OutputPiece[];
};

/**
 * A run in words. In a room each message begins with its speaker; of those who speak at the same time one is told as it speaks,
 * the others when they have spoken. `turns`: those that began before, by their runs.
 */
export function createRunPrinter(root: string, turns: ReadonlyMap<string, string> = new Map()): RunPrinter {
  const speakers = new Map(turns);
  /** The turn that is told as it speaks. */
  let speaking: string | undefined;
  /** Who was stopped just before: alone, or with the whole room, which is told only once. */
  let stopped: string[] = [];
  let hasToldKept = false;
  /** What others did meanwhile; it would stand in the middle of what that turn says. */
  const held: OutputPiece[] = [];

  function tellTurn(event: RunEvent, run: string, name: string): readonly OutputPiece[] {
    switch (event.type) {
      case "text-delta": {
        const isFirst = event.offset === 0;
        if (speaking === undefined && isFirst) speaking = run;
        if (speaking !== run) return [];
        return [{ kind: "text", text: isFirst ? `[@${name}]: ${event.text}` : event.text }];
      }
      case "step-retry":
        if (speaking === run) speaking = undefined;
        else if (!event.retry) return [];
        return [{ kind: "activity", text: event.retry ? `@${name}: ${event.retry.text}` : brokenOff }];
      case "message": {
        const { body, step } = event.item;
        const text = textOf(body.content);
        // What a tool asked a model is recorded, and said to nobody.
        if (body.role !== "assistant" || step?.includes("/") || text.trim() === "") return [];
        if (speaking !== run) return [{ kind: "line", text: `[@${name}]: ${text}` }];
        speaking = undefined;
        return [{ kind: "break", text: "" }];
      }
      case "call-start":
        return [{ kind: "activity", text: `▸ @${name} ${callOf(event)}` }];
      case "run-end":
        if (speaking === run) speaking = undefined;
        if (event.status === "cancelled") stopped.push(name);
        if (event.status !== "failed") return [{ kind: "break", text: "" }];
        return [{ kind: "outcome", text: `@${name} failed: ${event.error?.message ?? "unknown error"}` }];
      default:
        return tellAny(event);
    }
  }

  function tellOwn(event: RunEvent): readonly OutputPiece[] {
    switch (event.type) {
      case "text-delta":
        return [{ kind: "text", text: event.text }];
      case "step-retry":
        return [{ kind: "activity", text: event.retry?.text ?? brokenOff }];
      case "call-start": {
        const { kept } = event.item.body;
        if (kept === undefined) return [{ kind: "activity", text: `▸ ${callOf(event)}` }];
        const head = hasToldKept ? "" : `Kept from run ${kept}, and not done again:\n`;
        hasToldKept = true;
        return [{ kind: "activity", text: `${head}  · ${callOf(event)}` }];
      }
      case "call-end":
        return event.item.body.kept === undefined ? tellAny(event) : [];
      case "run-end":
        stopped = [];
        speaking = undefined;
        if (event.status === "cancelled")
          return [{ kind: "outcome", text: `Stopped.\nContinue with: ${resumeCommand(event.run)}` }];
        return event.status === "failed"
          ? [
              {
                kind: "outcome",
                text: `Failed: ${event.error?.message ?? "unknown error"}\nOnce the problem is fixed, continue with: ${resumeCommand(event.run)}`,
              },
            ]
          : [];
      case "run-resume":
        return [{ kind: "activity", text: "Continued." }];
      default:
        return tellAny(event);
    }
  }

  return {
    isOf(event) {
      if (event.type === "turn-start" && event.rootRun === root) speakers.set(event.run, event.agent);
      const run = runOf(event);
      return run === root || (run !== undefined && speakers.has(run));
    },
    tell(event) {
      const run = runOf(event);
      const isStop = event.type === "run-end" && event.status === "cancelled";
      const alone = isStop ? [] : stopped.splice(0);
      const before = alone.map((who): OutputPiece => ({ kind: "outcome", text: `@${who} was stopped.` }));
      const name = run === undefined ? undefined : speakers.get(run);
      const own = run === undefined || name === undefined ? tellOwn(event) : tellTurn(event, run, name);
      const told = [...before, ...own];
      if (speaking === undefined) return [...told, ...held.splice(0)];
      if (speaking === run) return told;
      held.push(...told);
      return [];
    },
  };
}

export const resumeCommand = (run: string) => `./colloquy resume ${run}`;

const brokenOff = "The answer was cut off and is discarded.";

function tellAny(event: RunEvent): readonly OutputPiece[] {
  if (event.type === "call-end")
    return [{ kind: "activity", text: `  ${event.item.body.isError ? "✗" : "✓"} ${oneLine(event.item.body.content)}` }];
  return event.type === "notice" ? [{ kind: "activity", text: event.item.body.text }] : [];
}

function callOf({ item: { body } }: Extract<RunEvent, { type: "call-start" }>): string {
  return `${body.name} ${oneLine(body.arguments)}`;
}

function runOf(event: RunEvent): string | undefined {
  if ("run" in event) return event.run;
  return "item" in event ? (event.item.runId ?? undefined) : undefined;
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
