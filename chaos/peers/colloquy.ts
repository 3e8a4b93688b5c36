import { agentId, startCluster } from "../cluster.ts";
import { followAnywhere } from "../follow.ts";
import type { Random } from "../random.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import type { Peer, PeerOptions, Unknown } from "./peer.ts";

/** Colloquy itself, one node of it, set up as `npm run chaos` does. */
export async function startColloquy(random: Random, options: PeerOptions): Promise<Peer> {
  const [node] = await startCluster({ ...options, nodes: 1 });
  const { client } = node!;
  const runs = new Map<string, string>();

  return {
    start: () => node!.start(),
    kill: () => node!.signal("SIGKILL"),
    async close() {
      await node!.signal("SIGKILL");
      await node!.way.close();
    },
    async submit(id, content, signal) {
      await client.createThread({ id }, signal);
      const input = { agent: agentId, content, messageId: id, idempotencyKey: id };
      const run = await client.startRun(id, input, signal);
      const known = runs.get(id);
      if (known !== undefined && known !== run.id) throw new Error(`${id} was accepted as ${known} and ${run.id}`);
      runs.set(id, run.id);
    },
    async look(id, signal) {
      try {
        const { status, error, questions } = await client.run(runs.get(id)!, signal);
        if (status !== "done")
          return {
            status: status === "failed" || status === "cancelled" ? "failed" : "running",
            error: error?.code ?? status,
            unknown: questions
              .filter(({ reason }) => reason === "unknown")
              .map((question): Unknown => {
                const { effect } = JSON.parse(question.arguments ?? "{}") as { effect: string };
                return {
                  effect,
                  async settle(happened) {
                    await client.decide(question, { decision: happened ? "done" : "retry" }, signal);
                  },
                };
              }),
          };
        const items = await client.items(id, {}, signal);
        const last = items.findLast((item) => item.kind === "message");
        const content = last?.body.content;
        return { status, answer: typeof content === "string" ? content : "" };
      } catch (error) {
        if (error instanceof ColloquyError && error.status === 404) return { status: "gone" };
        throw error;
      }
    },
    async follow(id, signal) {
      let text = "";
      const check = await followAnywhere([node!], random, {
        runId: runs.get(id)!,
        cursor: "0",
        signal,
        onEvent(event) {
          if (event.type === "message" && event.item.step !== null)
            text = typeof event.item.body.content === "string" ? event.item.body.content : "";
        },
      });
      return { text, faults: check.faults };
    },
  };
}
