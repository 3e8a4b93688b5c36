import { z } from "zod";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import type { ProjectSession } from "./access.ts";
import { changeWork, hasFields, readWork } from "./change-work.ts";
import { checkMilestone, checkWork } from "./check-work.ts";
import {
  type Artifact,
  artifactResult,
  defineWrite,
  type PreflightContext,
  type TaigaDeps,
} from "./define-taiga-tool.ts";
import { TaigaFailure } from "./failure.ts";
import { type Id, idSchema, realId, wireFields, type WireFields, workFields, type WorkFields } from "./fields.ts";
import { findMarked, isMarkerTag, markerFields } from "./markers.ts";
import { parsed, shownWork, type WireWork, workSchema } from "./shapes.ts";
import { type WorkKind, story, task, viewRight } from "./work-kinds.ts";

const subject = z.string().trim().min(1).max(500);
const sprint = idSchema.describe("The id of a sprint");
const ofStory = idSchema.describe("The id of a user story (not its ref)");

export function workTools(kit: TaigaDeps): readonly Tool[] {
  return [
    createTool(kit, story, {
      input: z.object({ subject, milestone_id: sprint.optional(), ...workFields }),
      description: "Makes a user story in the project, in the sprint milestone_id or else in the backlog.",
    }),
    createTool(kit, task, {
      input: z.object({ subject, user_story_id: ofStory.optional(), milestone_id: sprint.optional(), ...workFields }),
      description:
        "Makes a task of the user story user_story_id; it is in the story's sprint by itself. A task without a story needs milestone_id.",
    }),
    updateTool(kit, story, {
      input: z.object({
        user_story_id: ofStory,
        subject: subject.optional(),
        milestone_id: sprint.nullable().optional().describe("Moves it to this sprint; null: to the backlog"),
        ...workFields,
      }),
      idOf: ({ user_story_id: id }) => id,
    }),
    updateTool(kit, task, {
      input: z.object({ task_id: idSchema, subject: subject.optional(), ...workFields }),
      idOf: ({ task_id: id }) => id,
    }),
    deleteTool(kit, story, { input: z.object({ user_story_id: ofStory }), idOf: ({ user_story_id: id }) => id }),
    deleteTool(kit, task, { input: z.object({ task_id: idSchema }), idOf: ({ task_id: id }) => id }),
  ];
}

type WorkToolInput = WorkFields & {
  readonly milestone_id?: Id | null | undefined;
  readonly user_story_id?: Id | undefined;
};

function toWire(
  desk: ProjectSession,
  kind: WorkKind,
  { milestone_id: milestone, user_story_id: ofWhich, ...given }: WorkToolInput,
): WireFields {
  return {
    ...wireFields(desk.project, kind.statuses(desk.project), given),
    ...(milestone === undefined ? {} : { milestone: milestone === null ? null : realId(milestone) }),
    ...(kind === story || ofWhich === undefined ? {} : { user_story: realId(ofWhich) }),
  };
}

function changesIn(desk: ProjectSession, kind: WorkKind, given: WorkToolInput): WireFields {
  const fields = toWire(desk, kind, given);
  if (Object.keys(fields).length === 0) throw new TaigaFailure(0, "No changes given.");
  return fields;
}

/** That what it names is there: sprint, status and person, and for a task its story. */
async function checkFields(
  desk: ProjectSession,
  kind: WorkKind,
  { given, looking }: { given: WorkToolInput; looking: PreflightContext },
) {
  const { milestone_id: milestone, user_story_id: ofWhich, ...fields } = given;
  wireFields(desk.project, kind.statuses(desk.project), fields);
  if (milestone !== undefined && milestone !== null) await checkMilestone(desk, milestone, looking);
  if (kind === task && ofWhich !== undefined) await checkWork(desk, { kind: story, id: ofWhich }, looking);
}

function resultOf(
  kit: TaigaDeps,
  desk: ProjectSession,
  { kind, action, work }: { kind: WorkKind; action: Artifact["action"]; work: WireWork },
): ToolResult {
  const verb = { created: "create", updated: "update", deleted: "delete" }[action];
  return artifactResult(kit, desk, {
    type: kind.type,
    action,
    tool: `taiga_${verb}_${kind.type}`,
    shown: shownWork(work),
  });
}

function createTool<Input extends z.ZodType<WorkToolInput & { readonly subject: string }>>(
  kit: TaigaDeps,
  kind: WorkKind,
  { input, description }: { input: Input; description: string },
): Tool {
  const { path } = kind;
  return defineWrite(kit, {
    name: `taiga_create_${kind.type}`,
    description,
    input,
    permissions: [`add_${kind.right}`],
    sameIntent: true,
    check: (desk, given, looking) => checkFields(desk, kind, { given, looking }),
    async write(desk, given, { signal, idempotencyKey: key }) {
      const fields = toWire(desk, kind, given);
      const body = { project: desk.project.id, ...fields, ...markerFields(kit.marker, key, fields.tags) };
      const answer = await desk.ask({ method: "POST", path, body, signal });
      const work = parsed(workSchema, answer, kind.words, { inDoubt: true });
      return resultOf(kit, desk, { kind, action: "created", work });
    },
    async find(desk, _given, { signal, idempotencyKey: key }) {
      const work = await findMarked(desk, { path, kind: kit.marker, key, signal });
      if (work === undefined) return undefined;
      return work === "none" ? "not-done" : resultOf(kit, desk, { kind, action: "created", work });
    },
  });
}

function updateTool<Input extends z.ZodType<WorkToolInput>>(
  kit: TaigaDeps,
  kind: WorkKind,
  { input, idOf }: { input: Input; idOf: (input: z.output<Input>) => Id },
): Tool {
  /** Tags that we set ourselves stay. */
  const fieldsFor = (desk: ProjectSession, given: WorkToolInput) => (work: WireWork) => {
    const fields = toWire(desk, kind, given);
    const markers = (work.tags ?? []).map(([tag]) => tag).filter(isMarkerTag);
    return fields.tags ? { ...fields, tags: [...fields.tags, ...markers] } : fields;
  };
  return defineWrite(kit, {
    name: `taiga_update_${kind.type}`,
    description: `Changes the given fields of a ${kind.words}; what is left out stays as it is.`,
    input,
    permissions: [`modify_${kind.right}`, viewRight(kind)],
    async check(desk, given, looking) {
      await checkWork(desk, { kind, id: idOf(given) }, looking);
      await checkFields(desk, kind, { given, looking });
      changesIn(desk, kind, given);
    },
    async write(desk, given, { signal }) {
      changesIn(desk, kind, given);
      const place = { path: kind.path, id: realId(idOf(given)), signal };
      const work = await changeWork(desk, place, fieldsFor(desk, given));
      return resultOf(kit, desk, { kind, action: "updated", work });
    },
    async find(desk, given, { signal }) {
      const work = await readWork(desk, { path: kind.path, id: realId(idOf(given)), signal });
      const isDone = hasFields(work, fieldsFor(desk, given)(work));
      return isDone ? resultOf(kit, desk, { kind, action: "updated", work }) : "not-done";
    },
  });
}

function deleteTool<Input extends z.ZodType>(
  kit: TaigaDeps,
  kind: WorkKind,
  { input, idOf }: { input: Input; idOf: (input: z.output<Input>) => Id },
): Tool {
  const { path } = kind;
  return defineWrite(kit, {
    name: `taiga_delete_${kind.type}`,
    description: `Deletes a ${kind.words} for good. Only if the user has asked for exactly that.`,
    input,
    permissions: [`delete_${kind.right}`, viewRight(kind)],
    destructive: true,
    check: (desk, given, looking) => checkWork(desk, { kind, id: idOf(given) }, looking),
    async write(desk, given, { signal, remember }) {
      const id = realId(idOf(given));
      const work = await readWork(desk, { path, id, signal });
      // Afterwards nobody can look what it was.
      await remember?.(work);
      const answer = await desk.ask({ method: "DELETE", path: `${path}/${id}`, signal });
      if (answer !== undefined)
        throw new TaigaFailure(0, "Taiga: its answer is not that of a deletion.", { inDoubt: true });
      return resultOf(kit, desk, { kind, action: "deleted", work });
    },
    async find(desk, given, { signal, remembered }) {
      const id = realId(idOf(given));
      try {
        await readWork(desk, { path, id, signal });
        return "not-done";
      } catch (error) {
        if (!(error instanceof TaigaFailure) || error.status !== 404) throw error;
        const work = workSchema.safeParse(remembered).data;
        if (work) return resultOf(kit, desk, { kind, action: "deleted", work });
        return { content: JSON.stringify({ deleted: true, id }), data: { id } };
      }
    },
  });
}
