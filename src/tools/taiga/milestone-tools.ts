import { z } from "zod";
import type { Tool, ToolContext } from "../../protocol/agents/tools.ts";
import type { ProjectSession } from "./access.ts";
import { defineRead, type TaigaDeps } from "./define-taiga-tool.ts";
import { milestoneSchema, parsed, shownMilestone, type WireMilestone } from "./shapes.ts";

const maxListed = 100;

export function milestoneTools(kit: TaigaDeps): readonly Tool[] {
  return [
    defineRead(kit, {
      name: "taiga_list_milestones",
      description: "The sprints (milestones) of the project with their ids, dates and state, the newest first.",
      input: z.object({ closed: z.boolean().optional().describe("Only closed ones, or only open ones") }),
      permissions: ["view_milestones"],
      async read(desk, { closed }, { signal }) {
        const all = await milestonesOf(desk, signal, closed === undefined ? {} : { closed });
        const milestones = all.slice(0, maxListed).map(shownMilestone);
        return { milestones, ...(all.length > maxListed ? { more: all.length - maxListed } : {}) };
      },
    }),
    defineRead(kit, {
      name: "taiga_get_milestone_by_name",
      description: "Finds one sprint (milestone) by its name and gives its id. If several fit, the user is asked.",
      input: z.object({ name: z.string().min(1).describe('Such as "Sprint 6"') }),
      permissions: ["view_milestones"],
      read: findByName,
    }),
  ];
}

async function findByName(
  desk: ProjectSession,
  { name }: { name: string },
  { answers, signal }: ToolContext,
): Promise<object> {
  const all = await milestonesOf(desk, signal, {});
  const fitting = fittingName(all, name);
  const [only] = fitting;
  if (!only) {
    const names = all.slice(0, 30).map((milestone) => milestone.name);
    const known = names.length > 0 ? `Available: ${names.join(", ")}.` : "The project has no sprints that you may see.";
    return { content: `Sprint ${JSON.stringify(name)} not found. ${known}`, isError: true };
  }
  if (fitting.length === 1) return shownMilestone(only);
  const choices = new Map(fitting.slice(0, 20).map((milestone) => [choiceOf(milestone), milestone]));
  const answer = answers.at(-1);
  if (answer?.decision === "decline")
    return { content: `Several sprints match ${JSON.stringify(name)}, and none was chosen.`, isError: true };
  const chosen = choices.get(answer?.text ?? "");
  if (chosen) return shownMilestone(chosen);
  return { content: "", ask: { text: `Which sprint is meant by "${name}"?`, choices: [...choices.keys()] } };
}

/** Those of exactly this name or id; else those whose name has all of these words in a row. */
function fittingName(all: readonly WireMilestone[], name: string): readonly WireMilestone[] {
  const wanted = plain(name);
  const exact = all.filter((milestone) =>
    [plain(milestone.name), milestone.slug, String(milestone.id)].includes(wanted),
  );
  return exact.length > 0 ? exact : all.filter((milestone) => ` ${plain(milestone.name)} `.includes(` ${wanted} `));
}

function plain(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s+/g, " ");
}

function choiceOf({ id, name, estimated_start: start, estimated_finish: finish }: WireMilestone): string {
  return `${name}${start && finish ? ` (${start} to ${finish})` : ""}, id ${id}`;
}

async function milestonesOf(
  desk: ProjectSession,
  signal: AbortSignal,
  query: { readonly closed?: boolean },
): Promise<readonly WireMilestone[]> {
  const all: WireMilestone[] = [];
  await desk.pages({ path: "/milestones", query: { project: desk.project.id, ...query }, signal }, (rows) => {
    all.push(...rows.map((row) => parsed(milestoneSchema, row, "list of milestones")));
    return true;
  });
  return all;
}
