import { z } from "zod";
import { type BrowserKey, browserKeySchema, type OpenCode, openCodeSchema } from "../../../protocol/people/accounts.ts";
import type { LocalLogins } from "../../../people/local-logins.ts";
import { NotFound } from "../../../protocol/base/errors.ts";
import { localLoginsOf, visitorOf } from "../../requests/visitor.ts";
import { checkPage } from "../../server/auth.ts";
import { endpoint } from "../../server/endpoint.ts";
import type { Services } from "../../server/services.ts";

export const makeOpenCode = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Make a code that lets a browser of this machine in as the owner's",
  description: "In local mode. It works once, within ten minutes; `./colloquy open` asks for it and shows the link.",
  answers: { 201: openCodeSchema },
  async handle({ services, reply }): Promise<OpenCode> {
    const { code, expiresAt } = await linksOf(services).makeCode();
    reply.code(201).header("cache-control", "no-store");
    return { code, expiresAt: expiresAt.toISOString() };
  },
});

export const logInByCode = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Turn such a code into a key for the page that has it",
  description: "For pages of this server. The key is in this answer alone; the page keeps it for its own origin.",
  open: () => true,
  body: z.strictObject({ code: z.string().max(200) }),
  answers: { 201: browserKeySchema },
  async handle(call): Promise<BrowserKey> {
    const links = linksOf(call.services);
    checkPage(call.request, []);
    const { token, expiresAt } = await links.enter(call.body.code, visitorOf(call).program);
    call.reply.code(201).header("cache-control", "no-store");
    return { token, expiresAt: expiresAt.toISOString() };
  },
});

/** Throws NotFound where nobody comes in so. */
function linksOf(services: Services): LocalLogins {
  const links = localLoginsOf(services);
  if (!links) throw new NotFound("This server does not use links for browsers.", { code: "no_links" });
  return links;
}
