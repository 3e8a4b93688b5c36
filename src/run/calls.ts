import { newId } from "../protocol/ids.ts";
import type { Query, Tool, ToolContext, ToolResult } from "../protocol/tools.ts";
import { executeTool, parseCall, unknownTool } from "../tools/call-tool.ts";
import { append } from "./append.ts";
import { resultItem, type Call } from "./call-item.ts";
import { callKey } from "./fold.ts";
import { claimWrite, settleWrite } from "./ledger.ts";
import { checkRepeats, hashOfCall, reserve } from "./limits.ts";
import type { Work } from "./work.ts";

type Prepared = { readonly call: Call; readonly tool: Tool; readonly input: unknown };

/**
 * Does open calls in the order they were asked for: reads that follow one another at the same time and in one commit,
 * each write by itself. Then waits for the caller's own tools, if there are any.
 */
export async function performCalls(work: Work, calls: readonly Call[]): Promise<void> {
  const { definition, caller } = work.taken;
  const allowed = work.runtime.tools
    .select(definition.agent.tools, caller)
    .filter((tool) => definition.tools.some((schema) => schema.name === tool.name));
  const toolOf = (call: Call) => allowed.find((tool) => tool.name === call.body.name);
  const server = calls.filter((call) => call.body.target === "server");
  const client = calls.filter((call) => call.body.target === "client");

  checkRepeats(work.turn.fold.items, calls, {
    limits: definition.limits,
    isWrite: (name) => allowed.some((tool) => tool.name === name && tool.effect === "write"),
  });
  const writes = server.filter((call) => toolOf(call)?.effect === "write").length;
  if (server.length > 0) await reserve(work.runtime.database.query, work.owner, { calls: server.length, writes });

  let reads: { call: Call; result: Promise<ToolResult> }[] = [];
  const flush = async () => {
    if (reads.length === 0) return;
    const together = reads;
    reads = [];
    const results = await Promise.all(together.map((read) => read.result));
    await work.commit(together.map(({ call }, at) => resultItem(call, results[at]!)));
  };
  for (const call of server) {
    work.signal.throwIfAborted();
    const tool = toolOf(call);
    const parsed = tool ? parseCall(tool, call.body.arguments) : undefined;
    if ((!tool || !parsed?.ok) && (await wasBegun(work, call))) {
      await flush();
      return stopAtUnknown(work, call);
    }
    if (!tool || !parsed?.ok) {
      reads.push({
        call,
        result: Promise.resolve(parsed && !parsed.ok ? parsed.result : unknownTool(call.body.name, allowed)),
      });
      continue;
    }
    const prepared: Prepared = { call, tool, input: parsed.input };
    if (tool.effect === "read") {
      const result = executeTool(
        tool,
        parsed.input,
        contextOf(work, prepared, { key: newId(), query: work.runtime.database.query }),
      );
      // Awaited together below; until then a rejection must not count as unhandled.
      result.catch(() => {});
      reads.push({ call, result });
      continue;
    }
    await flush();
    await (tool.scope === "local" ? writeLocally(work, prepared) : writeThroughLedger(work, prepared));
    if (work.left()) return;
  }
  await flush();
  if (client.length > 0)
    await work.wait("client", `waiting for the results of ${client.map((call) => call.body.name).join(", ")}`);
}

/** Effect, ledger and result in one transaction: exactly once. */
async function writeLocally(work: Work, prepared: Prepared): Promise<void> {
  const { call, tool, input } = prepared;
  const { database } = work.runtime;
  const key = newId();
  const appended = await database.transaction(async (query) => {
    const result = await executeTool(tool, input, { ...contextOf(work, prepared, { key, query }), step: noStep });
    const entry = { userId: work.taken.caller.userId, tool: tool.name, key, argumentsHash: hashOfCall(call) };
    return append(query, work.owner, [resultItem(call, result)], {
      ledger: { step: call.step!, index: call.index!, status: result.isError ? "failed" : "done", result, entry },
    });
  });
  work.committed(appended.items);
}

/** On PGlite it would wait for its own transaction, and all SQL with it. */
async function noStep(): Promise<never> {
  throw new Error("A tool that writes to our own tables can't ask a model: its transaction must not wait.");
}

/** The record before, the tool, the record after; whoever finds the first without the last knows that it does not know. */
async function writeThroughLedger(work: Work, prepared: Prepared): Promise<void> {
  const { call, tool, input } = prepared;
  const context = (key: string) => contextOf(work, prepared, { key, query: work.runtime.database.query });
  const claim = await claimWrite(work, {
    call,
    tool,
    ask: (key, signal) => tool.reconcile?.(input, { ...context(key), signal }),
  });
  if (claim.how === "execute") {
    const result = await executeTool(tool, input, context(claim.key));
    if (!result.timedOut) return settleWrite(work, call, result);
  } else if (claim.how === "settled") {
    return settleWrite(work, call, claim.result);
  }
  await stopAtUnknown(work, call);
}

/** Whether an earlier process recorded the call in the ledger; it may have been made when its tool was still there. */
async function wasBegun(work: Work, call: Call): Promise<boolean> {
  if (work.taken.epoch === 1) return false;
  const rows = await work.runtime.database.query(
    "select 1 from ledger where run_id = $1 and step = $2 and call_index = $3",
    [work.owner.runId, call.step, call.index],
  );
  return rows.length > 0;
}

async function stopAtUnknown(work: Work, call: Call): Promise<void> {
  const place = { step: call.step!, index: call.index! };
  const text = `It is not known whether ${call.body.name} was done.`;
  await work.wait("unknown", `${text} A person decides.`, {
    items: [{ id: newId(), kind: "question", ...place, body: { reason: "unknown", text } }],
    ledger: { ...place, status: "unknown", result: null },
  });
}

function contextOf(work: Work, { call }: Prepared, { key, query }: { key: string; query: Query }): ToolContext {
  const { owner, taken, signal, runtime } = work;
  const place = { step: call.step!, index: call.index! };
  let nested = 0;
  return {
    caller: taken.caller,
    threadId: owner.threadId,
    runId: owner.runId,
    call: place,
    signal,
    idempotencyKey: key,
    query,
    step: (request) => work.nestedStep(`${callKey(call)}/${++nested}`, request),
    progress: (text) => runtime.feeds.progress(owner.threadId, { run: owner.runId, ...place, text }),
  };
}
