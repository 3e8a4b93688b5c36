import type { en } from "./en-offline.ts";

export const de: typeof en = {
  title: "Der Server ist nicht zu erreichen",
  text: "Vielleicht startet er gerade neu, oder dieses Gerät ist nicht verbunden. Es wird alle paar Sekunden noch einmal versucht; nichts, was gesendet wurde, geht verloren.",
  again: "Jetzt noch einmal versuchen",
};
