import type { en } from "./en-form.ts";

export const de: typeof en = {
  missing: "Das wird gebraucht.",
  number: "Das ist keine Zahl.",
  whole: "Muss eine ganze Zahl sein.",
  least: (value) => `Muss mindestens ${value} sein.`,
  most: (value) => `Darf höchstens ${value} sein.`,
  short: (length) => `Muss mindestens ${length} Zeichen haben.`,
  long: (length) => `Darf höchstens ${length} Zeichen haben.`,
  json: "Das ist kein JSON.",
  needed: "nötig",
  lines: "je Zeile eines",
  asJson: "JSON",
  yes: "ja",
  no: "nein",
  unset: "(nicht angegeben)",
};
