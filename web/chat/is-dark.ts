import { useSyncExternalStore } from "react";

const system = matchMedia("(prefers-color-scheme: dark)");

/** For what takes no colours from tokens. */
export function useIsDark(): boolean {
  return useSyncExternalStore(listen, () => {
    const chosen = document.documentElement.dataset["theme"] ?? "";
    return chosen === "" ? system.matches : chosen === "dark";
  });
}

function listen(listener: () => void): () => void {
  const changes = new MutationObserver(listener);
  changes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", listener);
  return () => {
    changes.disconnect();
    system.removeEventListener("change", listener);
  };
}
