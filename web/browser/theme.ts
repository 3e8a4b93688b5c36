import { createStoredChoice } from "./stored-choice.ts";

const themes = ["", "light", "dark"] as const;

/** Empty: as the system is. */
export const theme = createStoredChoice("theme");

const system = matchMedia("(prefers-color-scheme: dark)");
theme.onChange(show);
show();

/** The other one than is seen; that of the system again after both. */
export function nextTheme(): void {
  const order = system.matches ? ["", "light", "dark"] : ["", "dark", "light"];
  theme.set(order[(order.indexOf(theme.get()) + 1) % order.length] ?? "");
}

function show(): void {
  const chosen = themes.find((each) => each === theme.get()) ?? "";
  document.documentElement.dataset["theme"] = chosen;
  // What browsers colour around the page follows the choice, else the system.
  for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")) {
    const own = meta.dataset["theme"] ?? "";
    meta.media = chosen === "" ? `(prefers-color-scheme: ${own})` : chosen === own ? "all" : "not all";
  }
}
