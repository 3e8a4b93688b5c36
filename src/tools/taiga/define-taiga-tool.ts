import type { z } from "zod";
import type { PlannedWrite, Tool, ToolContext, ToolResult } from "../../protocol/tools.ts";
import { defineTool } from "../define-tool.ts";
import { type Desk, type TaigaAccess, taigaSystem } from "./access.ts";
import { TaigaFailure } from "./failure.ts";
import type { MarkerKind } from "./markers.ts";
import { shownName } from "./names.ts";

/** What every Taiga tool works with. */
export type TaigaKit = {
  readonly access: TaigaAccess;
  readonly marker: MarkerKind;
  /** Where people look at it: what stands before `/project/…`. */
  readonly webUrl: string;
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
/** Within it a write is tried and looked for; after it, it is asked about again. */
const writeMs = 10_000;

export type ReadDefinition<Input extends z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly permissions: readonly string[];
  readonly read: (desk: Desk, input: z.output<Input>, context: ToolContext) => Promise<object>;
};

export function defineRead<Input extends z.ZodType>(
  { access }: TaigaKit,
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
export type Looking = { readonly signal: AbortSignal; readonly planned: readonly PlannedWrite[] };

export type WriteDefinition<Input extends z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly permissions: readonly string[];
  readonly destructive?: boolean;
  /** Throws TaigaFailure if it can't be done, by reads alone. */
  readonly check: (desk: Desk, input: z.output<Input>, looking: Looking) => Promise<void>;
  readonly write: (desk: Desk, input: z.output<Input>, context: ToolContext) => Promise<ToolResult>;
  /** Looks whether it was done; undefined: it can't be told. */
  readonly find: (
    desk: Desk,
    input: z.output<Input>,
    context: ToolContext,
  ) => Promise<ToolResult | "not-done" | undefined>;
};

export function defineWrite<Input extends z.ZodType>(
  { access }: TaigaKit,
  { write, find, check, ...definition }: WriteDefinition<Input>,
): Tool {
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
      const desk = await access.open(context.caller, context.signal);
      try {
        return await write(desk, input, context);
      } catch (error) {
        if (!(error instanceof TaigaFailure) || !error.isInDoubt) throw error;
        const found = await find(desk, input, context).catch(() => undefined);
        if (found !== undefined && found !== "not-done") return found;
        // The request may still be on its way: until its time is over nobody may say that it was not done, or do it again.
        return await untilTimeIsOver(context.signal);
      }
    },
    async reconcile(input, context) {
      return find(await access.open(context.caller, context.signal), input, context);
    },
  });
  return { ...tool, source: taigaSystem };
}

async function untilTimeIsOver(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}

/** The model reads what was made; clients get it as an artifact too. */
export function artifactResult(
  { webUrl }: Pick<TaigaKit, "webUrl">,
  desk: Desk,
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
