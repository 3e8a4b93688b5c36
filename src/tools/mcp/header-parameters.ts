/** The keyword by which a server has an argument repeated in a header, where proxies can read it. */
const keyword = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const permitted: readonly unknown[] = ["string", "integer", "boolean"];

/** Throws what is wrong with a schema's arguments in headers: such a tool can't be called over HTTP. */
export function checkHeaderParameters(inputSchema: unknown): void {
  const seen = new Set<string>();
  // Only what `properties` alone lead to has one value in every call.
  const visit = (schema: unknown, isReachable: boolean): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties, ...others } = schema as Readonly<Record<string, unknown>>;
    if (keyword in others) checkOne(others, { isReachable, seen });
    for (const property of valuesOf(properties)) visit(property, isReachable);
    for (const [key, other] of Object.entries(others))
      if (!["default", "examples", "enum", "const"].includes(key))
        for (const part of [other, ...valuesOf(other)]) if (isSchema(part)) visit(part, false);
  };
  for (const property of valuesOf((inputSchema as { readonly properties?: unknown })?.properties))
    visit(property, true);
}

function checkOne(
  { [keyword]: name, type }: Readonly<Record<string, unknown>>,
  { isReachable, seen }: { readonly isReachable: boolean; readonly seen: Set<string> },
): void {
  const problem = (what: string) => new TypeError(`its ${keyword} ${JSON.stringify(name)} ${what}`);
  if (typeof name !== "string" || !token.test(name)) throw problem("is no name of a header");
  if (!isReachable) throw problem("is where an argument may be missing or there several times");
  if (!permitted.includes(type)) throw problem("is not of a string, integer or boolean");
  if (seen.has(name.toLowerCase())) throw problem("is there twice");
  seen.add(name.toLowerCase());
}

function valuesOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
