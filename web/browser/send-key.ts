import type { KeyboardEvent } from "react";
import { createStoredChoice } from "./stored-choice.ts";

/** Empty: Enter sends; `ctrl`: Ctrl+Enter does. */
export const sendKey = createStoredChoice("send");

/** Whether what was pressed sends what was typed. Enter that ends the choice of a character is no such key. */
export function useSendKey(): (event: KeyboardEvent) => boolean {
  const withCtrl = sendKey.use() === "ctrl";
  return ({ key, shiftKey, ctrlKey, metaKey, nativeEvent }) =>
    key === "Enter" && !nativeEvent.isComposing && (withCtrl ? ctrlKey || metaKey : !shiftKey);
}
