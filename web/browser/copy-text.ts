/** To the clipboard, as HTML beside it if given; the older way where the page did not come over TLS. Tells whether it is there. */
export async function copyText(text: string, html?: string): Promise<boolean> {
  try {
    if (html === undefined) await navigator.clipboard.writeText(text);
    else {
      const as = (type: string, content: string) => ({ [type]: new Blob([content], { type }) });
      await navigator.clipboard.write([new ClipboardItem({ ...as("text/plain", text), ...as("text/html", html) })]);
    }
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
