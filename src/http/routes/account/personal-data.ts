import { authorizeAccountAdmin } from "../../server/entry.ts";
import type { Readable } from "node:stream";
import { z } from "zod";
import { Conflict, NotFound } from "../../../protocol/base/errors.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { idParams } from "../../shapes/schemas.ts";

const archive = {
  200: { description: "A `.tar.gz`", content: { "application/gzip": { schema: z.string() } } },
};
const description =
  "One archive: the account, conversations with their items and files, runs, uploads, collections, keys' names, grants, " +
  "schedules, what was spent, the audit log's rows; no passwords, hashes or tokens. See docs/personal-data.md. 409 " +
  "`export_running`: another one is being read.";

export const exportOwnData = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Export your data",
  description,
  answers: archive,
  handle(call) {
    return send(call, call.caller.userId);
  },
});

export const exportPerson = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Export a user's data",
  description,
  params: idParams,
  answers: archive,
  async handle(call) {
    authorizeAccountAdmin(call.caller, await call.services.users.roleOf(call.params.id));
    return send(call, call.params.id);
  },
});

/** At work in this process, by account: each reads the disk for as long as somebody takes it. */
const reading = new Set<string>();
const maxAtOnce = 4;

async function send(
  { reply, services: { persons } }: Pick<EndpointCall, "reply" | "services">,
  userId: string,
): Promise<Readable> {
  if (!persons) throw new NotFound("Exports are not available on this server.");
  if (reading.has(userId) || reading.size >= maxAtOnce)
    throw new Conflict("Another export is in progress. Wait for it to finish.", { code: "export_running" });
  reading.add(userId);
  try {
    const stream = await persons.archive(userId);
    stream.once("close", () => reading.delete(userId));
    reply.headers({
      "content-type": "application/gzip",
      "content-disposition": `attachment; filename="colloquy-${userId}.tar.gz"`,
      "cache-control": "no-store",
    });
    return stream;
  } catch (error) {
    reading.delete(userId);
    throw error;
  }
}
