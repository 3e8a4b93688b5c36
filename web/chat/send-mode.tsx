import { ChevronDown, ListPlus, Milestone } from "lucide-react";
import { t } from "@lingui/core/macro";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { MenuBehind } from "../parts/menus/menu.tsx";

/** When what is said meanwhile is heard: `queue` after the answer, `steer` at the next step of the agent at work. */
export const sendMode = createStoredChoice("send-mode");

/** Beside Send while an agent works. */
export function SendModeMenu() {
  const mode = sendMode.use() === "steer" ? "steer" : "queue";
  const entries = [
    { name: t`Queue`, icon: ListPlus, mode: "queue" },
    { name: t`Steer now`, icon: Milestone, mode: "steer" },
  ].map(({ mode: each, ...entry }) => ({ ...entry, isChosen: mode === each, onChoose: () => sendMode.set(each) }));
  const chosen = entries.find(({ isChosen }) => isChosen)!;
  return (
    <MenuBehind name={`${t`When to send`}: ${chosen.name}`} look="button" entries={entries}>
      <span className="max-sm:sr-only">{chosen.name}</span> <ChevronDown size={14} aria-hidden />
    </MenuBehind>
  );
}
