/** The words of forms that are made of a JSON Schema. */
export const en = {
  missing: "Required",
  number: "Must be a number.",
  whole: "Must be a whole number.",
  least: (value: number) => `Must be at least ${value}.`,
  most: (value: number) => `Must be at most ${value}.`,
  short: (length: number) => `Must have at least ${length} characters.`,
  long: (length: number) => `Must have at most ${length} characters.`,
  json: "This is not valid JSON.",
  needed: "required",
  lines: "one per line",
  asJson: "JSON",
  yes: "yes",
  no: "no",
  unset: "(not set)",
};
