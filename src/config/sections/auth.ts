import { isIP } from "node:net";
import { z } from "zod";

const dayHours = 24;

/** An issuer is asked over TLS, or it is on this machine. */
const issuer = z
  .url({ protocol: /^https?$/ })
  .refine(
    (text) => /^https:|^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:|\/|$)/.test(text),
    "must begin with https://",
  )
  .refine((text) => !/^https?:\/\/[^/]*@/.test(text), "must not contain a user name or password");

export const authSchema = z
  .strictObject({
    /** local: no login, for this machine alone. */
    mode: z.enum(["local", "accounts"]).default("local"),
    /**
     * In local mode everybody on this machine may ask. auto: whoever runs as the user of the server owns it, and whoever has a
     * link or a key; token: only a link or a key counts; open: everybody owns it.
     */
    local: z.enum(["auto", "token", "open"]).default("auto"),
    /** Whether `npm start` opens the link in a browser where the system can't tell whose a browser is. */
    openBrowser: z.boolean().default(true),
    /** Who may make an account: everybody, who has an invitation, or nobody. */
    signup: z.enum(["open", "invite", "closed"]).default("invite"),
    /** How long a login lasts. */
    tokenHours: z
      .number()
      .positive()
      .max(10 * 366 * dayHours)
      .default(7 * dayHours),
    /** Of one user, one key, or one address without a login, over all nodes; 0: any number. */
    requestsPerMinute: z.int().nonnegative().default(1200),
    /** An identity provider that people log in through. */
    oidc: z
      .strictObject({
        issuer,
        clientId: z.string().min(1),
        /** Absent: a public client, by PKCE alone. */
        clientSecret: z.string().min(1).optional(),
        label: z.string().min(1).default("Single sign-on"),
        scopes: z.array(z.string().min(1)).default(["openid", "profile", "email"]),
        nameClaim: z.string().min(1).default("preferred_username"),
        groupsClaim: z.string().min(1).default("groups"),
        signup: z.boolean().default(true),
        allowedGroups: z.array(z.string().min(1)).default([]),
        adminGroups: z.array(z.string().min(1)).default([]),
      })
      .optional(),
  })
  .prefault({});

/** Proxies whose word on who asks is taken: addresses, networks, or the names that stand for such. */
export const trustProxySchema = z
  .array(z.string().refine(isNetwork, "must be an address, a network or loopback"))
  .default([]);

/** What stands before all paths where browsers reach this server. */
export const basePathSchema = z
  .string()
  .regex(/^(\/[\w.~-]+)*$/, "must be a path such as /colloquy, without a slash at the end")
  .default("");

function isNetwork(text: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(text)) return true;
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  const isWide = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isWide && rest.length === 0;
}
