import { inProcess } from "../http/mcp/in-process.ts";
import { todoSurface } from "../http/mcp/todo-features.ts";
import type { Services } from "../http/server/services.ts";
import type { ToolSource } from "../protocol/agents/tools.ts";
import type { Log } from "../protocol/base/log.ts";
import { version } from "../protocol/base/version.ts";
import { createTaskList } from "../store/tasks/task-list.ts";
import { createTaskCalls } from "../tools/basic/task-calls.ts";
import { createOwnServer } from "../tools/mcp/own-server.ts";
import type { Store } from "./store.ts";

export type OpenTasks = {
  /** The same tools as an MCP server of this process. */
  readonly source: ToolSource;
  readonly services: Pick<Services, "tasks" | "taskList">;
  readonly close: () => Promise<void>;
};

/** Opens tasks, and the tools that change them. */
export function openTasks({
  store: { database },
  log,
}: {
  readonly store: Pick<Store, "database">;
  readonly log: Log;
}): OpenTasks {
  const tasks = createTaskCalls(database);
  const { source, close } = createOwnServer({
    name: "todo",
    version,
    log,
    unasked: tasks.tools.filter((tool) => tool.unasked).map((tool) => tool.name),
    fetchFor: (caller) => inProcess(() => todoSurface(tasks, caller, { version })),
  });
  return { source, services: { tasks, taskList: createTaskList(database) }, close };
}
