import { createHash } from "node:crypto";
import type { SignupRule } from "../../../people/accounts.ts";
import type { PageWords, wordsFor } from "./page-words.ts";

/** A login, sign-up or reset form. `token`: the field for the part of a link after #. */
export type EntryPage = {
  readonly says: "logIn" | "setUp" | "signUp" | "reset";
  /** Relative, so that it works under any base path. */
  readonly post: string;
  readonly fields: readonly ("username" | "password" | "new-password")[];
  readonly token?: string;
  /** Whether the form logs the page in, with a cookie. */
  readonly logsIn: boolean;
  readonly next: string;
};

/** A link to another way of logging in, next to the form. */
export type PageLink = { readonly href: string; readonly text: string };

const style = `
:root {
  color-scheme: light dark;
  --paper: light-dark(oklch(0.985 0.004 90), oklch(0.17 0.005 90));
  --raised: light-dark(oklch(1 0 0), oklch(0.21 0.005 90));
  --ink: light-dark(oklch(0.22 0.01 90), oklch(0.94 0.005 90));
  --muted: light-dark(oklch(0.5 0.01 90), oklch(0.7 0.01 90));
  --edge: light-dark(oklch(0.65 0.01 90), oklch(0.55 0.01 90));
  --accent: light-dark(oklch(0.48 0.16 265), oklch(0.76 0.12 265));
  --bad: light-dark(oklch(0.53 0.19 27), oklch(0.74 0.15 25));
}
body {
  font: 16px/1.6 system-ui, sans-serif;
  max-width: 22rem;
  margin: 12vh auto 0;
  padding: 0 16px;
  background: var(--paper);
  color: var(--ink);
}
header { color: var(--muted); font-size: 14px; }
h1 { margin: 0 0 24px; font-size: 28px; font-weight: 600; line-height: 1.3; }
label { display: block; margin: 16px 0 4px; font-size: 14px; color: var(--muted); }
small { display: block; margin-top: 4px; font-size: 13px; color: var(--muted); }
a { color: var(--accent); }
input, button { font: inherit; width: 100%; min-height: 44px; padding: 4px 12px; box-sizing: border-box; border-radius: 6px; }
input { border: 1px solid var(--edge); background: var(--raised); color: var(--ink); }
button { margin: 24px 0 12px; border: 0; background: var(--accent); color: var(--raised); cursor: pointer; }
button:disabled { background: var(--edge); cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none !important; }
output { display: block; min-height: 48px; font-size: 14px; color: var(--bad); }
`;

const script = `
const form = document.querySelector("form");
const note = document.querySelector("output");
const { post, token, next, login, noToken, noServer } = form.dataset;
if (token && location.hash.length < 2) {
  const uninvited = document.querySelector("#uninvited");
  if (uninvited) {
    uninvited.hidden = false;
    form.hidden = true;
  } else if (noToken) {
    note.textContent = noToken;
    for (const each of form.children) each.hidden = each !== note;
  }
}
// A link that is pasted into this tab changes no more than what stands behind the #.
addEventListener("hashchange", () => location.reload());
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
    note.textContent = noServer;
  }
  button.disabled = false;
  // Restore the focus, which disabling the button removed.
  if (document.activeElement === document.body) button.focus();
});
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Only this script and this style; it talks to this server alone. The icon is named, since Firefox asks for one in any case. */
export const pagePolicy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function entryPage(
  { says, post, fields, token, logsIn, next }: EntryPage,
  links: readonly PageLink[],
  {
    signup,
    wanted: { language, words },
  }: { readonly signup: SignupRule; readonly wanted: ReturnType<typeof wordsFor> },
): string {
  const { title, button } = words[says];
  const data = [`data-post="${post}"`, `data-next="${next}"`, `data-no-server="${words.noServer}"`];
  if (token) data.push(`data-token="${token}"`);
  // An account can be made without an invitation, or whoever has none is told so without a form.
  if (token && says !== "signUp") data.push(`data-no-token="${words.noToken}"`);
  if (logsIn) data.push(`data-login="1"`);
  const others = links.map(({ href, text }) => `<p><a href="${escape(href)}">${escape(text)}</a></p>`).join("\n");
  const isClosed = says === "signUp" && signup === "closed";
  const uninvited =
    says === "signUp" && signup === "invite" ? `<p id="uninvited" hidden>${words.invitationNeeded}</p>` : "";
  const accountless = says === "logIn" && signup !== "open" ? `<small>${words.noAccountYet}</small>` : "";
  const form = `${uninvited}<form method="post" ${data.join(" ")}>
${fields.map((field) => fieldOf(field, words)).join("\n")}
<button>${button}</button>
<output role="alert"></output>
</form>
<noscript><p>${words.noScript(`<code>${post}</code>`, `<a href="docs">${words.docs}</a>`)}</p></noscript>`;
  return `<!doctype html>
<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Colloquy</title>
<link rel="icon" href="mark.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<main>
<header>Colloquy</header>
<h1>${title}</h1>
${isClosed ? `<p>${words.signUpClosed}</p>` : form}
${others}
${accountless}
</main>
${isClosed ? "" : `<script>${script}</script>`}
</body>
</html>
`;
}

function fieldOf(field: EntryPage["fields"][number], words: PageWords): string {
  if (field === "username")
    return `<label for="username">${words.name}</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>`;
  const hint = field === "new-password" ? `<small id="hint">${words.hint}</small>` : "";
  const known = hint === "" ? `autocomplete="current-password"` : `autocomplete="new-password" aria-describedby="hint"`;
  return `<label for="password">${words.password}</label>
<input id="password" name="password" type="password" ${known} required>${hint}`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
