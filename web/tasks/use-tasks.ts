import { useState } from "react";
import type { TaskPage, TaskStatus, TaskView } from "../../src/protocol/threads/tasks.ts";
import { createTaskClient, type NewTaskInput, type TaskInput } from "../../src/client/tasks.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { server } from "../page/server.ts";
import { refresh, useAnswer } from "../parts/answers.ts";

const tasks = createTaskClient(server);
const pageSize = 100;

export type TaskListState = {
  /** Undefined until they are there. */
  readonly page: TaskPage | undefined;
  readonly hasMore: boolean;
  readonly problem: string | undefined;
  readonly reload: () => void;
  readonly showMore: () => void;
  readonly add: (task: NewTaskInput) => Promise<void>;
  readonly change: (id: number, change: Partial<TaskInput>) => Promise<void>;
  readonly remove: (id: number) => Promise<void>;
};

/** One's tasks, in step with whoever else changes them: an agent, another tab. */
export function useTasks(status: "all" | TaskStatus): TaskListState {
  const [wanted, setWanted] = useState(pageSize);
  const { data, problem, reload } = useAnswer(["tasks", status, wanted], (signal) => readTasks(status, wanted, signal));
  const changed = () => refresh(["tasks"]);
  return {
    page: data?.page,
    hasMore: data?.hasMore ?? false,
    problem,
    reload,
    showMore: () => setWanted(wanted + pageSize),
    add: (task) => tasks.add(task, newId()).then(changed),
    change: (id, change) => tasks.change(id, change).then(changed),
    remove: (id) => tasks.remove(id).then(changed),
  };
}

/** The newest, in as many pages as it takes. */
async function readTasks(
  status: "all" | TaskStatus,
  wanted: number,
  signal: AbortSignal,
): Promise<{ readonly page: TaskPage; readonly hasMore: boolean }> {
  const data: TaskView[] = [];
  for (;;) {
    const limit = Math.min(500, wanted - data.length);
    const before = data.at(-1)?.id;
    const page = await tasks.list({ status, limit, ...(before !== undefined && { before }) }, signal);
    data.push(...page.data);
    const hasMore = page.data.length === limit;
    if (!hasMore || data.length >= wanted) return { page: { data, counts: page.counts }, hasMore };
  }
}
