import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";

const ticketSchema = z.object({
  for: z.enum(["begin", "return"]),
  userId: z.string(),
  server: z.string(),
  /** Of the sign-in that has begun. */
  nonce: z.string().optional(),
  until: z.number(),
});
/** What comes back through a browser: who signs in where, and until when, in milliseconds. */
export type SignInTicket = z.infer<typeof ticketSchema>;

const longest = 1000;

export function signTicket(secret: string, ticket: SignInTicket): string {
  const body = Buffer.from(JSON.stringify(ticket)).toString("base64url");
  return `${body}.${macOf(secret, body)}`;
}

/** Undefined: it is not ours, for something else, or too old. */
export function readTicket(secret: string, text: string, purpose: SignInTicket["for"]): SignInTicket | undefined {
  const [body = "", mac = ""] = text.slice(0, longest).split(".");
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(secret, body))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const ticket = ticketSchema.parse(JSON.parse(Buffer.from(body, "base64url").toString()));
  return ticket.for === purpose && ticket.until > Date.now() ? ticket : undefined;
}

function macOf(secret: string, body: string): string {
  return createHmac("sha256", secret).update(`colloquy: MCP sign-in ${body}`).digest("base64url");
}
