import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { UserView } from "../protocol/people/accounts.ts";
import type { UserClient } from "../client/users.ts";
import { createClient } from "../client/client.ts";
import { connect } from "./connect.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { InvalidInput, NotFound } from "../protocol/base/errors.ts";

export type UserOptions = {
  readonly admin: boolean;
  /** The label of a new key. */
  readonly add?: string;
  /** All that it may. */
  readonly scopes?: string;
  /** After how many days it ends, or `never`. */
  readonly days?: string;
  /** The new password comes from standard input. */
  readonly stdin: boolean;
  /** The name of who is erased, once more. */
  readonly confirm?: string;
};

const usage = `./colloquy user list
  ./colloquy user add <name> [--admin] [--scopes <scopes>] [--days <number>]
  ./colloquy user reset <name> [--stdin]
  ./colloquy user disable <name>
  ./colloquy user enable <name>
  ./colloquy user keys <name> [--add <label> --scopes <scopes> [--days <number>]]
  ./colloquy user revoke <key's id>
  ./colloquy user erase <name> --confirm <name>`;

type UserCommand = (
  users: UserClient,
  subject: string,
  options: UserOptions & { readonly config: Config },
) => Promise<void>;

const verbs: Readonly<Record<string, UserCommand>> = {
  async add(users, name, { admin, scopes: given, days }) {
    const asked = {
      scopes: given === undefined ? undefined : wordsIn(given, name),
      expiresInDays: daysIn(days) ?? null,
    };
    const { key, scopes, expiresAt } = await users.add({ name, role: admin ? "admin" : "user", ...asked });
    tellKey(name, { text: key, scopes, expiresAt });
    if (asked.scopes === undefined)
      console.error("To limit a key: --scopes agents:assistant. To change its expiry: --days 30 or --days never.");
  },
  async reset(users, name, { stdin, config }) {
    const { id } = await named(users, name);
    const link = await users.reset(id);
    if (stdin) {
      // A terminal and a pipe end the line; a password can't hold a line's end anyway.
      await users.setPassword(link.token, (await text(process.stdin)).replace(/\r?\n$/, ""));
      return console.log(`Password of ${name} changed; logged out everywhere`);
    }
    console.error(`${name} can set a new password with this link, once, until ${link.expiresAt}:`);
    console.log(serverAddress(config, link));
  },
  disable: (users, name) => setDisabled(users, name, true),
  enable: (users, name) => setDisabled(users, name, false),
  async keys(users, name, { add: label, scopes: given, days }) {
    const { id } = await named(users, name);
    if (label !== undefined) {
      const words = wordsIn(given, name);
      const expiresInDays = daysIn(days);
      const made = { label, scopes: words, ...(expiresInDays === undefined ? {} : { expiresInDays }) };
      const { key, text } = await users.addKey(id, made);
      return tellKey(name, { text, scopes: words, expiresAt: key.expiresAt });
    }
    for (const key of await users.keys(id)) {
      const state = key.revokedAt === null ? `used ${key.lastUsedAt ?? "never"}` : `revoked ${key.revokedAt}`;
      const may = key.scopes?.join(" ") ?? "*";
      const ends = key.expiresAt === null ? "" : `\texpires ${key.expiresAt}`;
      const end = key.unscopedUntil === null ? ends : `\texpires ${key.unscopedUntil} unless it gets scopes${ends}`;
      console.log(`${key.id}\t${key.label}\t${may}\tcreated ${key.createdAt}\t${state}${end}`);
    }
  },
  async revoke(users, id) {
    await users.revokeKey(id);
    console.log(`revoked ${id}`);
  },
  async erase(users, name, { confirm }) {
    const { id } = await named(users, name);
    if (confirm !== name)
      throw new InvalidInput(
        `This permanently deletes ${name}'s account with all conversations, files and keys. To confirm, run: ` +
          `./colloquy user erase ${name} --confirm ${name}`,
      );
    let erasure = await users.erase(id, confirm);
    for (let problem = ""; erasure.doneAt === null; erasure = await users.erasure(erasure.id)) {
      if (erasure.problem !== null && erasure.problem !== problem) console.error((problem = erasure.problem));
      await sleep(200);
    }
    console.log(`erased (record ${erasure.id})`);
  },
};

/** `colloquy user <verb> …`: accounts and their keys. */
export async function user([verb = "", subject]: readonly string[], options: UserOptions): Promise<number> {
  const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verb !== "list" && (!act || subject === undefined)) throw new InvalidInput(usage);
  const config = loadConfig();
  // Whoever works on runs of theirs has to be there.
  const { server, close } = await connect(config, { runsJobs: verb === "erase" });
  try {
    const { users } = createClient(server);
    if (act) await act(users, subject!, { ...options, config });
    else for (const known of await users.list()) console.log(lineOf(known));
    return 0;
  } finally {
    await close();
  }
}

/** Where the server will be reached, also while it is this command that answers. */
function serverAddress({ server }: Config, { url, token }: { readonly url: string; readonly token: string }): string {
  if (server.publicUrl === undefined && server.port === 0) return url;
  return `${server.publicUrl ?? `http://localhost:${server.port}`}${server.basePath}/reset#${token}`;
}

async function setDisabled(users: UserClient, name: string, disabled: boolean): Promise<void> {
  const { id } = await named(users, name);
  console.log(lineOf(await users.change(id, { disabled })));
}

async function named(users: UserClient, name: string): Promise<UserView> {
  const found = (await users.list()).find((known) => known.name === name);
  if (!found) throw new NotFound(`User ${name} not found. Run \`./colloquy user list\` to see all users.`);
  return found;
}

type CreatedKey = { readonly text: string; readonly scopes: readonly string[]; readonly expiresAt: string | null };

/** The key alone goes to standard output, for `$(…)`. */
function tellKey(name: string, { text: key, scopes, expiresAt }: CreatedKey): void {
  const all = scopes.includes("*") ? ` (everything ${name} may do)` : "";
  const end = expiresAt === null ? "Never expires." : `Expires ${expiresAt.slice(0, 10)}.`;
  console.error(`API key for ${name} (shown only once). Scopes: ${scopes.join(" ")}${all}. ${end}`);
  console.log(key);
}

function wordsIn(scopes: string | undefined, name: string): readonly string[] {
  const words = (scopes ?? "").split(/[\s,]+/u).filter((word) => word !== "");
  if (words.length > 0) return words;
  throw new InvalidInput(
    `Add scopes for the key, for example --scopes agents:assistant,threads:read, or --scopes "*" for all of ${name}'s permissions.`,
  );
}

/** Undefined: the key never ends. */
function daysIn(text = "90"): number | undefined {
  if (text === "never") return undefined;
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > 3660)
    throw new InvalidInput("--days must be a number from 1 to 3660, or never.");
  return days;
}

function lineOf({ name, role, disabled }: UserView): string {
  return `${name}\t${role}${disabled ? "\tdisabled" : ""}`;
}
