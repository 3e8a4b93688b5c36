import type { en } from "./en-threads.ts";

export const de: typeof en = {
  days: { today: "Heute", yesterday: "Gestern", week: "Letzte 7 Tage", older: "Älter" },
  marks: { waiting: "wartet auf Sie", working: "arbeitet", new: "neu" },
  more: "Mehr zeigen",
  none: "Noch wurde nichts gesagt.",
  archived: "Weggelegt",
  isPutAway: "Weggelegt.",
  noneArchived: "Nichts ist weggelegt.",
  showArchived: "Weggelegte zeigen",
  showOthers: "Zurück zu den Gesprächen",
  bringBack: "Zurückholen",
  about: (title) => `Mehr zu: ${title}`,
};
