import { z } from "zod";
import type { Tool } from "../../protocol/agents/tools.ts";
import { defineRead, type TaigaDeps } from "./define-taiga-tool.ts";
import { parsed, shownWork, workSchema } from "./shapes.ts";

const maxListed = 100;

export function readTools(kit: TaigaDeps): readonly Tool[] {
  return [
    defineRead(kit, {
      name: "taiga_get_project",
      description: "The project that is worked on: its members, the statuses of stories and tasks, its open sprints.",
      input: z.object({}),
      permissions: ["view_project"],
      async read({ project }) {
        const { id, slug, name, description, members, storyStatuses, taskStatuses, milestones } = project;
        return {
          id,
          slug,
          name,
          description: description.slice(0, 1000),
          members: members.slice(0, 100).map(({ username, name: full, role }) => ({ username, name: full, role })),
          user_story_statuses: storyStatuses.map((status) => status.name),
          task_statuses: taskStatuses.map((status) => status.name),
          ...(project.permissions.includes("view_milestones")
            ? {
                open_milestones: milestones
                  .filter((each) => !each.closed)
                  .map(({ id: own, name: of }) => ({ id: own, name: of })),
              }
            : {}),
        };
      },
    }),
    defineRead(kit, {
      name: "taiga_list_user_stories",
      description:
        "The user stories of the project, of one sprint, or of the backlog, without their descriptions; with ref one story with its description.",
      input: z.object({
        milestone_id: z.int().positive().optional().describe("Only those of this sprint"),
        backlog: z.boolean().optional().describe("true: only those of no sprint"),
        query: z.string().max(200).optional().describe("Words in subject, description or tags"),
        ref: z.int().positive().optional().describe("The number after # of one story"),
      }),
      permissions: ["view_us"],
      async read(desk, { milestone_id: milestone, backlog, query, ref }, { signal }) {
        const project = desk.project.id;
        if (ref !== undefined) {
          const story = await desk.ask({ path: "/userstories/by_ref", query: { ref, project }, signal });
          return shownWork(parsed(workSchema, story, "user story"), { withDescription: true });
        }
        const stories: object[] = [];
        const isWhole = await desk.pages(
          {
            path: "/userstories",
            query: { project, milestone: backlog ? "null" : milestone, q: query },
            signal,
          },
          (rows) => {
            stories.push(...rows.map((row) => shownWork(parsed(workSchema, row, "list of user stories"))));
            return stories.length <= maxListed;
          },
        );
        const shown = stories.slice(0, maxListed);
        const isCut = !isWhole || stories.length > maxListed;
        return { user_stories: shown, ...(isCut ? { more: "There are more; narrow it by sprint or words." } : {}) };
      },
    }),
  ];
}
