import { createHash } from "node:crypto";

/** A form that one comes in by. `token`: the field for what stands behind the # of a link. */
export type EntryPage = {
  readonly title: string;
  /** Relative, so that it is right under any base path. */
  readonly post: string;
  readonly button: string;
  readonly fields: readonly ("username" | "password" | "new-password")[];
  readonly token?: string;
  /** Whether the page is logged in by it, with a cookie. */
  readonly logsIn: boolean;
  readonly next: string;
};

/** Another way in: a link beside the form. */
export type PageLink = { readonly href: string; readonly text: string };

const style = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 12vh auto 0; padding: 0 1.25rem; }
label { display: block; margin: 1rem 0 .25rem; } small { opacity: .75; }
input, button { font: inherit; width: 100%; padding: .5rem; box-sizing: border-box; }
button { margin: 1.25rem 0 .5rem; cursor: pointer; } output { display: block; min-height: 3rem; }
`;

const script = `
const form = document.querySelector("form");
const note = document.querySelector("output");
const { post, token, next, login } = form.dataset;
if (token && location.hash.length < 2) note.textContent = "The link is not whole: what stands behind the # is missing.";
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  note.textContent = "";
  try {
    const fields = Object.fromEntries(new FormData(form));
    if (token && location.hash.length > 1) fields[token] = location.hash.slice(1);
    if (login) fields.cookie = true;
    const response = await fetch(post, {
      method: "POST",
      headers: { "content-type": "application/json", "x-colloquy-page": "1" },
      body: JSON.stringify(fields),
    });
    if (response.ok) return location.replace(next);
    note.textContent = (await response.json()).error.message;
  } catch {
    note.textContent = "The server can't be reached.";
  }
  button.disabled = false;
});
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Only this script and this style; it talks to this server alone. */
export const pagePolicy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function entryPage(
  { title, post, button, fields, token, logsIn, next }: EntryPage,
  links: readonly PageLink[],
): string {
  const data = [`data-post="${post}"`, `data-next="${next}"`];
  if (token) data.push(`data-token="${token}"`);
  if (logsIn) data.push(`data-login="1"`);
  const others = links.map(({ href, text }) => `<p><a href="${escape(href)}">${escape(text)}</a></p>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Colloquy</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<form method="post" ${data.join(" ")}>
${fields.map(fieldOf).join("\n")}
<button>${button}</button>
<output role="alert"></output>
</form>
${others}
<noscript><p>This page needs JavaScript. Without it: POST JSON to <code>${post}</code>, as <a href="docs">the API</a> says.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`;
}

function fieldOf(field: EntryPage["fields"][number]): string {
  if (field === "username")
    return `<label for="username">Name</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>`;
  const [autocomplete, hint] =
    field === "password" ? ["current-password", ""] : ["new-password", "<small>At least 8 characters</small>"];
  return `<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="${autocomplete}" required>${hint}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
