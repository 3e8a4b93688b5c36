/** What admins define without touching files. */
export const definitionKinds = ["agent", "model", "mcp-server"] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

/** What there may be a default of: who answers, and what thinks, where nobody is named. */
export const defaultKinds = ["agent", "model"] as const;
export type DefaultKind = (typeof defaultKinds)[number];

/**
 * Where something is defined, the strongest first. `environment` and `file` are not ours to change. `found`: a model server
 * that the start came upon.
 */
export const definitionSources = ["environment", "file", "database", "found", "built-in"] as const;
export type DefinitionSource = (typeof definitionSources)[number];

/** `where`: the variable, or the file and line; null where that says nothing more. */
export type DefinitionPlace = { readonly source: DefinitionSource; readonly where: string | null };

/** `path` leads to the fault in the definition; empty: it is about the whole. */
export type DefinitionProblem = { readonly path: string; readonly message: string };
