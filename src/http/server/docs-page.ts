import { createHash } from "node:crypto";

/** As much of an OpenAPI document as the page shows. */
type ApiDocument = {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

type Operation = {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content?: MediaTypes };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: MediaTypes }>>;
};

type MediaTypes = Readonly<Record<string, { readonly schema?: unknown }>>;

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 0 auto; padding: 2rem 1.25rem 6rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
details { border-bottom: 1px solid var(--line); padding: .55rem 0; } summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; font: 600 13px ui-monospace, monospace; } summary span { opacity: .75; }
table { border-collapse: collapse; } td { padding: .15rem 1.2rem .15rem 0; vertical-align: top; }
h4 { margin: 1rem 0 .3rem; }
`;

/** The page runs no script and loads nothing but its icon, which Firefox asks for in any case. */
export const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The document as one page to read. */
export function docsPage(source: object): string {
  const document = source as ApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = (document.tags ?? []).map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name));
    return `<h2>${escape(name)}</h2>\n<p>${prose(description ?? "")}</p>\n${own.map(showOperation).join("\n")}`;
  });
  const { title, version, description } = document.info;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} API</title>
<link rel="icon" href="mark.svg" type="image/svg+xml">
<style>${style}</style>
<h1>${escape(title)} API</h1>
<p>${prose(description ?? "")} Version ${escape(version)}; as a document: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join("\n")}
</html>
`;
}

function showOperation({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const parameters = (operation.parameters ?? []).map(
    (parameter) =>
      `<tr><td><code>${escape(parameter.name)}</code><td>${escape(parameter.in)}${parameter.required ? ", required" : ""}<td>${prose(parameter.description ?? "")}`,
  );
  const answers = Object.entries(operation.responses ?? {}).map(([status, { description, content }]) =>
    showContent(`Answer ${status}${content ? "" : ": " + (description ?? "")}`, content),
  );
  return `<details>
<summary><b>${escape(method.toUpperCase())}</b><code>${escape(path)}</code> <span>${prose(operation.summary ?? "")}</span></summary>
${operation.description ? `<p>${prose(operation.description)}</p>` : ""}
${parameters.length > 0 ? `<h4>Parameters</h4><table>${parameters.join("")}</table>` : ""}
${operation.requestBody ? showContent("Body", operation.requestBody.content) : ""}
${answers.join("\n")}
</details>`;
}

function showContent(title: string, content: MediaTypes = {}): string {
  const bodies = Object.entries(content).map(
    ([type, { schema }]) =>
      `<h4>${escape(title)} (${escape(type)})</h4><pre>${escape(JSON.stringify(schema, null, 2))}</pre>`,
  );
  return bodies.length > 0 ? bodies.join("\n") : `<h4>${prose(title)}</h4>`;
}

/** A description; what stands between backticks is code. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`\n]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(`"`, "&quot;");
}
