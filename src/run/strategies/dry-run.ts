import type { ResultBody } from "../../protocol/threads/items.ts";
import type { PlannedWrite } from "../../protocol/agents/tools.ts";
import { chosenWrites } from "../turn/chosen-writes.ts";
import { createdId, plannedWrites, questionOf, stepOf, resolveCreatedIds } from "../turn/planned-writes.ts";
import type { Turn } from "../contract/turn.ts";

const choices = ["Do exactly this", "Do nothing"] as const;

/**
 * Native tool calling in which writes are only planned. When the model has answered, a person allows all of them,
 * some, or none, maybe with other arguments; then exactly those are done, in their order, up to the first that fails.
 */
export async function dryRun(turn: Turn): Promise<void> {
  for (;;) {
    const { openCalls, answer, steps } = turn.fold;
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) break;
    else await turn.step(String(steps + 1));
  }
  const writes = plannedWrites(turn.fold.items);
  if (writes.length === 0) return;
  const { decision, text, arguments: choice } = await turn.ask(questionOf(writes), { text: planText(writes), choices });
  const isAllowed = decision === "answer" && text === choices[0];
  const chosen = isAllowed ? chosenWrites(writes, choice) : [];
  const leftOut = writes.length - chosen.length;
  await turn.say("end", isAllowed ? await doAll(turn, chosen, leftOut) : "Nothing was done.", { final: true });
}

async function doAll(turn: Turn, writes: readonly PlannedWrite[], leftOut: number): Promise<string> {
  const made = new Map<string, unknown>();
  for (const [done, write] of writes.entries()) {
    const given = JSON.stringify(resolveCreatedIds(write.arguments, made));
    const body: ResultBody = await turn.use(stepOf(write), { name: write.tool, arguments: given });
    if (body.isError)
      return `${done} of ${writes.length} planned writes were done; then ${write.tool} (${write.id}) failed, and nothing after it was done: ${body.content}`;
    made.set(write.id, createdId({ body }));
  }
  const rest = leftOut > 0 ? `; ${leftOut} ${were(leftOut)} left out` : "";
  const whole = writes.length > 1 && leftOut === 0 ? "All " : "";
  return `${whole}${writes.length} planned ${writes.length === 1 ? "write" : "writes"} ${were(writes.length)} done${rest}.`;
}

const were = (count: number) => (count === 1 ? "was" : "were");

function planText(writes: readonly PlannedWrite[]): string {
  const lines = writes.map(({ id, tool, arguments: given }) => `${id}  ${tool} ${JSON.stringify(given)}`);
  const asked = writes.length === 1 ? "May this write be done?" : `May these ${writes.length} writes be done?`;
  return [asked, ...lines].join("\n");
}
