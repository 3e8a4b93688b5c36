import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import type { PlannedWrite, Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { defineTool } from "../core/define-tool.ts";
import { NothingDone } from "../core/nothing-done.ts";
import { type ProjectSession, type TaigaAccess, taigaSystem } from "./access.ts";
import { TaigaFailure } from "./failure.ts";
import type { MarkerKind } from "./markers.ts";
import { shownName } from "./tool-names.ts";
import type { OpenWrites } from "./open-writes.ts";

/** What every Taiga tool works with. */
export type TaigaDeps = {
  readonly access: TaigaAccess;
  readonly marker: MarkerKind;
  /** Where people look at it: what stands before `/project/…`. */
  readonly webUrl: string;
  /** Within it a write is done, or looked for; after it, it is asked about again. */
  readonly writeMs: number;
  readonly unanswered: OpenWrites;
};

/** What a run made or changed, as clients are shown it. */
export type Artifact = {
  readonly type: "user_story" | "task";
  readonly action: "created" | "updated" | "deleted";
  readonly tool: string;
  readonly id: number;
  readonly ref: number;
  readonly subject: string;
  readonly url: string;
};

const readMs = 25_000;
/** Between two looks for a write whose answer was unclear. */
const lookEveryMs = 500;

export type ReadDefinition<Input extends z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly permissions: readonly string[];
  readonly read: (desk: ProjectSession, input: z.output<Input>, context: ToolContext) => Promise<object>;
};

export function defineRead<Input extends z.ZodType>(
  { access }: TaigaDeps,
  { read, ...definition }: ReadDefinition<Input>,
): Tool {
  const tool = defineTool({
    ...definition,
    effect: "read",
    bringsIn: true,
    rights: taigaSystem,
    timeoutMs: readMs,
    execute: async (input, context) => read(await access.open(context.caller, context.signal), input, context),
  });
  return { ...tool, source: taigaSystem };
}

/** For a look before a write: what a dry run does before it. */
export type PreflightContext = { readonly signal: AbortSignal; readonly planned: readonly PlannedWrite[] };

export type WriteDefinition<Input extends z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly permissions: readonly string[];
  readonly destructive?: boolean;
  readonly sameIntent?: boolean;
  /** Throws TaigaFailure if it can't be done, by reads alone. */
  readonly check: (desk: ProjectSession, input: z.output<Input>, looking: PreflightContext) => Promise<void>;
  readonly write: (desk: ProjectSession, input: z.output<Input>, context: ToolContext) => Promise<ToolResult>;
  /** Looks whether it was done; undefined: it can't be told. */
  readonly find: (
    desk: ProjectSession,
    input: z.output<Input>,
    context: ToolContext,
  ) => Promise<ToolResult | "not-done" | undefined>;
};

export function defineWrite<Input extends z.ZodType>(
  { access, unanswered, writeMs }: TaigaDeps,
  { write, find, check, ...definition }: WriteDefinition<Input>,
): Tool {
  /** Looks until it is found or the call's time is over: an unclear answer may come before what it answers is done. */
  async function found(desk: ProjectSession, input: z.output<Input>, context: ToolContext): Promise<ToolResult> {
    for (;;) {
      const result = await find(desk, input, context).catch(() => undefined);
      if (result !== undefined && result !== "not-done") return result;
      await sleep(lookEveryMs, undefined, { signal: context.signal });
    }
  }
  async function open({ caller, signal }: ToolContext): Promise<ProjectSession> {
    try {
      return await access.open(caller, signal);
    } catch (error) {
      throw asNothingDone(error);
    }
  }

  const tool = defineTool({
    ...definition,
    effect: "write",
    rights: taigaSystem,
    timeoutMs: writeMs,
    async check(input, { caller, signal }, planned) {
      const desk = await access.open(caller, signal);
      if (desk.project.isBlocked) throw new TaigaFailure(451, "The project is blocked: nothing can be changed in it.");
      await check(desk, input, { signal, planned });
      return undefined;
    },
    async execute(input, context) {
      const { idempotencyKey: key, isRepeated } = context;
      const desk = await open(context);
      if (isRepeated) {
        const before = await find(desk, input, context);
        if (before !== undefined && before !== "not-done") return before;
      }
      unanswered.begin(key);
      let remembered: unknown;
      const remember = async (what: object): Promise<void> => {
        remembered = what;
        await context.remember?.(what);
      };
      try {
        const result = await write(desk, input, { ...context, remember });
        unanswered.end(key);
        return result;
      } catch (error) {
        if (!(error instanceof TaigaFailure)) throw error;
        if (!error.isSilent) unanswered.end(key);
        if (!error.isInDoubt) throw asNothingDone(error);
        return await found(desk, input, { ...context, remembered });
      }
    },
    async reconcile(input, context) {
      const result = await find(await access.open(context.caller, context.signal), input, context);
      return result === "not-done" && unanswered.has(context.idempotencyKey) ? undefined : result;
    },
  });
  return { ...tool, source: taigaSystem };
}

/** What Taiga refused, and what it was never asked. */
function asNothingDone(error: unknown): unknown {
  return error instanceof TaigaFailure ? new NothingDone(error.message, { cause: error }) : error;
}

/** The model reads what was made; clients get it as an artifact too. */
export function artifactResult(
  { webUrl }: Pick<TaigaDeps, "webUrl">,
  desk: ProjectSession,
  {
    shown,
    ...made
  }: Omit<Artifact, "url" | "id" | "ref" | "subject"> & {
    readonly shown: { readonly id: number; readonly ref: number; readonly subject: string };
  },
): ToolResult {
  const { id, ref, subject } = shown;
  const kind = made.type === "task" ? "task" : "us";
  const url = `${webUrl}/project/${encodeURIComponent(desk.project.slug)}/${kind}/${ref}`;
  const artifact: Artifact = { ...made, tool: shownName(made.tool), id, ref, subject, url };
  const { action } = made;
  return { content: JSON.stringify({ [action]: true, ...shown, url }), data: { ...shown, url, artifact } };
}
