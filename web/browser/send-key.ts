import { createStoredChoice } from "./stored-choice.ts";

/** Empty: Enter sends; `ctrl`: Ctrl+Enter does. */
export const sendKey = createStoredChoice("send");

/** As assistant-ui calls it. */
export function useSubmitMode(): "enter" | "ctrlEnter" {
  return sendKey.use() === "ctrl" ? "ctrlEnter" : "enter";
}
