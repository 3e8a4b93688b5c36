import { logInByCode } from "../../src/client/account.ts";
import { ask, type ServerAccess } from "../../src/client/request.ts";
import { createStoredChoice } from "../browser/stored-choice.ts";

/** What a link has let this browser in with, kept for this origin alone: a cookie would go to every server on this machine. */
const stored = createStoredChoice("owner-key");

let hadKey = false;

export function ownerKey(): string | undefined {
  const key = stored.get() || undefined;
  hadKey ||= key !== undefined;
  return key;
}

/** It counts no more: what is shown is read again as whoever this browser is without it. False: this page never had one. */
export function forgetOwnerKey(): boolean {
  // Several requests may hear of it before the page is gone.
  if (!hadKey) return false;
  stored.set("");
  location.reload();
  return true;
}

/** Its code leaves the address first, so that nobody copies it on. Of one that is over the page says what to do. */
export async function followOpenLink(server: ServerAccess): Promise<void> {
  const code = /^#open=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    stored.set((await logInByCode(server, code)).token);
  } catch {
    // This browser may ask all the same.
  }
}

/** A link to a file of the server has no header with the key: the file is asked for, and saved from memory. */
export function saveLinksWithKey(server: ServerAccess): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[download]") : null;
    if (ownerKey() === undefined || !link?.href.startsWith(`${server.url}api/`)) return;
    event.preventDefault();
    void save(server, link);
  });
}

/** Nor has a picture: it is asked for, and shown from memory, which whoever shows it gives back. */
export async function pictureWithKey(server: ServerAccess, address: string): Promise<string | undefined> {
  const answer = await read(server, address);
  return answer && URL.createObjectURL(await answer.blob());
}

function read(server: ServerAccess, address: string): Promise<Response | undefined> {
  return ask(server, address.slice(server.url.length - 1)).catch(() => undefined);
}

async function save(server: ServerAccess, { href, download }: HTMLAnchorElement): Promise<void> {
  const answer = await read(server, href);
  if (!answer) return;
  const given = /filename="?([^";]+)/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = download || given || decodeURIComponent(href.split(/[?#]/, 1)[0]!.split("/").at(-1)!);
  link.click();
  URL.revokeObjectURL(address);
}
