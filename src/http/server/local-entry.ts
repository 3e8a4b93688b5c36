import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { browserKeyPrefix } from "../../people/local-logins.ts";
import { AccessDenied } from "../../protocol/base/errors.ts";
import { type Authenticate, bearerOf, enterByKey, type AuthenticatedRequest, pageHeader } from "./entry.ts";
import { createPeerUid } from "./loopback-peer.ts";
import { isLoopbackHost, isOwnOrigin } from "./origins.ts";
import type { Access, LocalOwner, ServerSettings } from "./services.ts";

type LocalAccess = Extract<Access, { readonly mode: "local" }>;

/**
 * In local mode whoever reaches the server may ask. Who owns it is proven: by a key, or by the kernel, which knows that the
 * client runs as the same user as the server. A page of another origin is never the owner, whatever it shows.
 */
export function createLocalAuthenticate(
  { owner, owning }: LocalAccess,
  { trustProxy }: Pick<ServerSettings, "trustProxy">,
): Authenticate {
  const owns: AuthenticatedRequest = { caller: owner };
  if (owning === "open") return () => owns;
  const asks = async (): Promise<AuthenticatedRequest> => ({ caller: await owning.asker() });
  const peerUid = createPeerUid();
  const isSameUser = async (request: FastifyRequest) => {
    const uid = await peerUid(request.raw.socket);
    return uid !== undefined && uid === process.geteuid?.();
  };
  return async (request) => {
    const entry = await enterWithKey(request, owning, owns);
    if (!isOwnOrigin(request)) return asks();
    if (entry) return entry;
    const isDirect = !trustProxy?.length && !cameByProxy(request) && isLoopbackHost(request.headers.host);
    const mayOwn = owning.rule === "auto" && isDirect && !isOfAnotherPage(request);
    return mayOwn && (await isSameUser(request)) ? owns : asks();
  };
}

/**
 * Undefined: there is no key of ours. Clients of other servers send what they like, but a key that looks like ours and is none
 * is refused, so that nobody wonders why they may so little.
 */
async function enterWithKey(
  request: FastifyRequest,
  { token, findByKey, logins }: LocalOwner,
  owns: AuthenticatedRequest,
): Promise<AuthenticatedRequest | undefined> {
  const key = bearerOf(request);
  if (key === undefined) return undefined;
  if (isSame(key, token)) return owns;
  if (key.startsWith("ck_")) return enterByKey(findByKey, key);
  if (key.startsWith("ct_"))
    throw new AccessDenied(401, "Wrong token. This server's token changes with every start.", {
      code: "invalid_token",
    });
  if (!key.startsWith(browserKeyPrefix)) return undefined;
  const found = await logins.findByToken(key);
  if (found && !found.user.disabled) return { caller: owns.caller, sessionId: found.sessionId };
  throw new AccessDenied(401, "This browser's key has expired or was revoked. Run `./colloquy open` for a new one.", {
    code: "invalid_token",
  });
}

/** Whoever forwards speaks for others. */
function cameByProxy({ headers }: FastifyRequest): boolean {
  return Object.keys(headers).some((name) => /^(forwarded|via|x-real-ip|x-forwarded-.*)$/.test(name));
}

/**
 * Browsers say where a request comes from that has no Origin: an image, a form, a link on a page of another server. Those that
 * don't yet must show on what changes something that a page of ours sends it.
 */
function isOfAnotherPage({ method, headers }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  // PowerShell calls itself so too.
  const isOldBrowser = /^Mozilla\/(?!.*PowerShell)/.test(headers["user-agent"] ?? "");
  if (!isOldBrowser || method === "GET" || method === "HEAD") return false;
  return headers.origin === undefined && headers[pageHeader] === undefined;
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
