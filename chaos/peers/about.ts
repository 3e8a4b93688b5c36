/** What each promises, in the terms of its own documentation, and how it is set up here. */
export const about = {
  colloquy: {
    promises: "an accepted run ends; a write happens once, or a person is asked whether it did",
    setUp: "a node on PostgreSQL, as `npm run chaos` sets it up; a person who looks outside answers what it asks",
  },
  dbos: {
    promises:
      "workflows always run to completion; steps are tried at least once, and never executed again after they complete",
    setUp:
      "a workflow with the run's id, a step for each call, DBOS.launch recovers; retries for the model, reads and the address that honours keys; key: workflow's id and step's; a durable stream",
  },
  restate: {
    promises: "a handler resumes from exactly where it left off; a completed step is not executed again",
    setUp:
      "its server beside the program, on its own disk, killed together; a workflow with the run's id, ctx.run for each call, the same retries; key: ctx.rand.uuidv4",
  },
  mastra: {
    promises:
      "a durable agent's state is persisted and survives process restarts; recovery calls model and tools again, so tools must be idempotent",
    setUp:
      "createDurableAgent with memory on PostgresStore, active runs recovered at start, an error processor that tries the model 30 times; 1.61.0, whose recovery works; key: the tool call's id",
  },
  voltagent: {
    promises: "a running execution restarts from the latest persisted checkpoint; steps should be idempotent",
    setUp:
      "a workflow chain, a step for each call, checkpointed in PostgreSQL after each, 30 retries for the model, running executions restarted at start; key: execution's id and step's",
  },
  langgraph: {
    promises: "a run resumes from its last recorded state, after a failure too; effects should be idempotent",
    setUp:
      'createReactAgent on PostgresSaver, durability "sync", retries for the model, the thread invoked again with null at start and after an error; key: the tool call\'s id',
  },
  careless: {
    promises: "nothing: it is what the driver must find fault with",
    setUp: "runs in memory, no look at ids, every call tried three times",
  },
} as const satisfies Readonly<Record<string, { readonly promises: string; readonly setUp: string }>>;

export type PeerName = keyof typeof about;

export const peerNames = Object.keys(about) as readonly PeerName[];
