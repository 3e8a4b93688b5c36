/** A call's arguments as an object, for wires that want one; what the model wrote wrongly goes back under `invalid`. */
export function argumentsObject(text: string): object {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below.
  }
  return { invalid: text };
}
