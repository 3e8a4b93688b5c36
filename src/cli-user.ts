import { createClient } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { loadConfig } from "./config.ts";
import { InvalidInput } from "./protocol/errors.ts";

/** `colloquy user add <name>` and `colloquy user list`. */
export async function user([verb, name]: readonly string[], { admin }: { readonly admin: boolean }): Promise<number> {
  if (verb !== "list" && (verb !== "add" || name === undefined))
    throw new InvalidInput("colloquy user add <name> [--admin]   or   colloquy user list");
  const { server, close } = await connect(loadConfig(), { works: false });
  const client = createClient(server);
  try {
    if (verb === "list") {
      for (const { name: known, role, disabled } of await client.users())
        console.log(`${known}\t${role}${disabled ? "\tdisabled" : ""}`);
      return 0;
    }
    const { key } = await client.addUser({ name: name!, role: admin ? "admin" : "user" });
    console.error(`API key of ${name}, shown this once:`);
    console.log(key);
    return 0;
  } finally {
    await close();
  }
}
