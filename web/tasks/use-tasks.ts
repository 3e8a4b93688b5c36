import { useEffect, useMemo, useRef, useState } from "react";
import type { TaskPage, TaskStatus, TaskView } from "../../src/protocol/threads/tasks.ts";
import { createTaskClient, type NewTaskInput, type TaskInput } from "../../src/client/tasks.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { reasonOf, server } from "../page/server.ts";
import { follow } from "../stream/follow.ts";

const tasks = createTaskClient(server);
const pageSize = 100;

export type TaskListState = {
  /** Undefined until they are there. */
  readonly page: TaskPage | undefined;
  readonly hasMore: boolean;
  readonly problem: string | undefined;
  readonly reload: () => Promise<void>;
  readonly showMore: () => Promise<void>;
  readonly add: (task: NewTaskInput) => Promise<void>;
  readonly change: (id: number, change: Partial<TaskInput>) => Promise<void>;
  readonly remove: (id: number) => Promise<void>;
};

/** One's tasks, in step with whoever else changes them: an agent, another tab. */
export function useTasks(status: "all" | TaskStatus): TaskListState {
  const [shown, setShown] = useState<{
    readonly page?: TaskPage;
    readonly hasMore?: boolean;
    readonly problem?: string;
  }>({});
  const wanted = useRef(pageSize);
  /** What was asked for first must not be shown over what was asked for later. */
  const round = useRef(0);

  const reload = useMemo(() => {
    const load = async () => {
      const mine = ++round.current;
      try {
        const { page, hasMore } = await readTasks(status, wanted.current);
        if (mine === round.current) setShown({ page, hasMore });
      } catch (error) {
        if (mine === round.current) setShown(({ page, hasMore }) => ({ page, hasMore, problem: reasonOf(error) }));
      }
    };
    return load;
  }, [status]);

  useEffect(() => {
    wanted.current = pageSize;
    void reload();
    return followWhileSeen(reload, (error) => setShown((before) => ({ ...before, problem: reasonOf(error) })));
  }, [reload]);

  return {
    page: shown.page,
    hasMore: shown.hasMore ?? false,
    problem: shown.problem,
    reload,
    async showMore() {
      wanted.current += pageSize;
      await reload();
    },
    async add(task) {
      await tasks.add(task, newId());
      await reload();
    },
    async change(id, change) {
      await tasks.change(id, change);
      await reload();
    },
    async remove(id) {
      await tasks.remove(id);
      await reload();
    },
  };
}

/** The newest, in as many pages as it takes. */
async function readTasks(
  status: "all" | TaskStatus,
  wanted: number,
): Promise<{ readonly page: TaskPage; readonly hasMore: boolean }> {
  const data: TaskView[] = [];
  for (;;) {
    const limit = Math.min(500, wanted - data.length);
    const before = data.at(-1)?.id;
    const page = await tasks.list({ status, limit, ...(before !== undefined && { before }) });
    data.push(...page.data);
    const hasMore = page.data.length === limit;
    if (!hasMore || data.length >= wanted) return { page: { data, counts: page.counts }, hasMore };
  }
}

/** A hidden tab holds no connection, and looks again when it is seen. */
function followWhileSeen(changed: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let following: AbortController | undefined;
  const listen = async (signal: AbortSignal) => {
    for await (const _ of follow({ of: "tasks" }, { signal })) await changed();
  };
  const look = () => {
    const isSeen = document.visibilityState === "visible";
    if (!isSeen) following?.abort();
    else if (!following || following.signal.aborted) {
      following = new AbortController();
      const { signal } = following;
      listen(signal).catch(async (error: unknown) => {
        // The list as it is now, and why nobody hears when that changes.
        await changed();
        if (!signal.aborted) failed(error);
      });
    }
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    following?.abort();
  };
}
