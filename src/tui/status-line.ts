import type { Chat } from "./chat.ts";
import type { Colours } from "./colours.ts";

/** What is going on, in words; empty when it is the person's turn. */
export function statusLine(chat: Chat, colours: Colours, now: number): string {
  const conversation = chat.conversation();
  const open = conversation.open().length;
  if (open > 0) return colours.bold(`waiting for you${open > 1 ? `: ${open} questions` : ""}`);
  const place = chat.place();
  const working = [...conversation.working().values()].flatMap((agent) =>
    agent !== undefined && place.members.some(({ id }) => id === `@${agent}`) ? [`@${agent}`] : [],
  );
  if (conversation.working().size === 0) return "";
  const who = working.length > 0 ? `${working.join(", ")} ${working.length > 1 ? "work" : "works"}` : "at work";
  const running = [...conversation.blocks()].findLast(({ kind, ...rest }) => kind === "call" && !("endedAt" in rest));
  const since = running?.kind === "call" ? ` · ${running.name} · ${seconds(now - Date.parse(running.startedAt))}` : "";
  return colours.dim(`${who}${since}  (Esc stops)`);
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}
