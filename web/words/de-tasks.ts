import type { en } from "./en-tasks.ts";

export const de: typeof en = {
  title: "Aufgaben",
  add: "Aufgabe hinzufügen",
  addHint: "Was ist zu tun? Enter fügt es hinzu.",
  addButton: "Hinzufügen",
  filter: "Welche Aufgaben",
  filters: { all: "Alle", pending: "Offen", completed: "Erledigt" },
  list: "Ihre Aufgaben",
  listOf: (name: string) => `Liste von ${name}`,
  done: (title: string) => `Erledigt: ${title}`,
  edit: (title: string) => `Ändern: ${title}`,
  remove: (title: string) => `Löschen: ${title}`,
  name: "Aufgabe",
  description: "Beschreibung",
  save: "Speichern",
  deleted: (title: string) => `Gelöscht: ${title}`,
  undo: "Rückgängig",
  more: "Mehr anzeigen",
  empty: {
    all: "Noch keine Aufgaben. Schreiben Sie oben eine, oder überlassen Sie es dem Assistenten.",
    pending: "Nichts ist offen.",
    completed: "Noch ist nichts erledigt.",
  },
  ask: "Den Assistenten fragen",
  keys: "Pfeiltasten bewegen, Leertaste erledigt, F2 ändert, Entf löscht.",
};
