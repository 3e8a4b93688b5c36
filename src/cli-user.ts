import type { UserClient, UserView } from "./client/users.ts";
import { createClient } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { loadConfig } from "./config.ts";
import { InvalidInput, NotFound } from "./protocol/errors.ts";

export type UserOptions = {
  readonly admin: boolean;
  /** The label of a new key. */
  readonly add?: string;
};

const usage = `colloquy user list
  colloquy user add <name> [--admin]
  colloquy user disable <name>
  colloquy user enable <name>
  colloquy user keys <name> [--add <label>]
  colloquy user revoke <key's id>`;

type Verb = (users: UserClient, subject: string, options: UserOptions) => Promise<void>;

const verbs: Readonly<Record<string, Verb>> = {
  async add(users, name, { admin }) {
    const { key } = await users.add({ name, role: admin ? "admin" : "user" });
    tellKey(name, key);
  },
  disable: (users, name) => setDisabled(users, name, true),
  enable: (users, name) => setDisabled(users, name, false),
  async keys(users, name, { add }) {
    const { id } = await named(users, name);
    if (add !== undefined) return tellKey(name, (await users.addKey(id, add)).text);
    for (const key of await users.keys(id)) {
      const state = key.revokedAt === null ? `used ${key.lastUsedAt ?? "never"}` : `revoked ${key.revokedAt}`;
      console.log(`${key.id}\t${key.label}\tsince ${key.createdAt}\t${state}`);
    }
  },
  async revoke(users, id) {
    await users.revokeKey(id);
    console.log(`revoked ${id}`);
  },
};

/** `colloquy user <verb> …`: accounts and their keys. */
export async function user([verb = "", subject]: readonly string[], options: UserOptions): Promise<number> {
  const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verb !== "list" && (!act || subject === undefined)) throw new InvalidInput(usage);
  const { server, close } = await connect(loadConfig(), { works: false });
  try {
    const { users } = createClient(server);
    if (act) await act(users, subject!, options);
    else for (const known of await users.list()) console.log(lineOf(known));
    return 0;
  } finally {
    await close();
  }
}

async function setDisabled(users: UserClient, name: string, disabled: boolean): Promise<void> {
  const { id } = await named(users, name);
  console.log(lineOf(await users.change(id, { disabled })));
}

async function named(users: UserClient, name: string): Promise<UserView> {
  const found = (await users.list()).find((known) => known.name === name);
  if (!found) throw new NotFound(`There is no user ${name}. \`colloquy user list\` shows all.`);
  return found;
}

/** The key alone goes to standard output, for `$(…)`. */
function tellKey(name: string, key: string): void {
  console.error(`API key of ${name}, shown this once:`);
  console.log(key);
}

function lineOf({ name, role, disabled }: UserView): string {
  return `${name}\t${role}${disabled ? "\tdisabled" : ""}`;
}
