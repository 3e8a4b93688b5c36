import { z } from "zod";
import { TaigaFailure } from "./failure.ts";
import type { TaigaProject, TaigaStatus } from "./project.ts";

/** A number, or what stands for one that is only planned. */
export const idSchema = z.union([z.int().positive(), z.string().regex(/^new:\d+$/)]);
export type Id = z.infer<typeof idSchema>;

/** What a story and a task can be given, as a model writes it. */
export const workFields = {
  description: z.string().max(50_000).optional(),
  status: z.string().optional().describe("A status of the project by its name"),
  assigned_to: z.string().nullable().optional().describe("A member's username; null: nobody"),
  tags: z.array(z.string().min(1).max(100)).max(30).optional(),
};
export type WorkFields = {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: string | undefined;
  readonly assigned_to?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
};

/** The same in Taiga's ids. Throws TaigaFailure that says what there is. */
export function wireFields(project: TaigaProject, statuses: readonly TaigaStatus[], fields: WorkFields): WireFields {
  const { subject, description, status, assigned_to: username, tags } = fields;
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status: statusNamed(statuses, status) }),
    ...(username === undefined ? {} : { assigned_to: username === null ? null : memberNamed(project, username) }),
    // Taiga keeps them so.
    ...(tags === undefined ? {} : { tags: tags.map((tag) => tag.trim().toLowerCase().replaceAll(",", " ")) }),
  };
}
export type WireFields = {
  readonly subject?: string;
  readonly description?: string;
  readonly status?: number;
  readonly assigned_to?: number | null;
  readonly tags?: readonly string[];
  readonly milestone?: number | null;
  readonly user_story?: number | null;
};

/** A planned one has no number yet. */
export function realId(id: Id): number {
  if (typeof id === "number") return id;
  throw new TaigaFailure(0, `${id} is only planned: it can't be used before it is made.`);
}

function statusNamed(statuses: readonly TaigaStatus[], name: string): number {
  const wanted = name.trim().toLowerCase();
  const found = statuses.find((status) => status.name.toLowerCase() === wanted || status.slug === wanted);
  if (found) return found.id;
  const names = statuses.map((status) => status.name).join(", ");
  throw new TaigaFailure(0, `Status ${JSON.stringify(name)} not found. Available: ${names}.`);
}

function memberNamed({ members }: TaigaProject, username: string): number {
  const wanted = username.trim().replace(/^@/, "").toLowerCase();
  const found = members.filter((member) =>
    [member.username, member.name].some((name) => name.toLowerCase() === wanted),
  );
  if (found.length === 1) return found[0]!.id;
  const names = members.map((member) => member.username).join(", ");
  throw new TaigaFailure(
    0,
    `${found.length > 1 ? "Several members are" : "No member is"} called ${JSON.stringify(username)}. Available: ${names}.`,
  );
}
