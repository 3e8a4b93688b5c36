import { errors, jwtVerify, SignJWT } from "jose";
import type { Query } from "../protocol/agents/tools.ts";
import { addSigningKey, listSigningKeys, removeSigningKeys, type SigningKey } from "../store/secrets/signing-keys.ts";

/** A login as its token tells it. */
export type LoginToken = { readonly sessionId: string; readonly userId: string; readonly expiresAt: Date };

/** JSON Web Tokens that only this installation can make and reads itself. */
export type Tokens = {
  sign(content: LoginToken): Promise<string>;
  /** Undefined: it is forged, over, of a key that is gone, or no token at all. */
  read(token: string): Promise<Pick<LoginToken, "sessionId" | "expiresAt"> | undefined>;
  /** Makes a new key in place of one that is too old, and takes away those that no living token needs. */
  rotate(): Promise<void>;
};

const algorithm = "HS256";
const issuer = "colloquy";
const dayMs = 24 * 60 * 60_000;
/** An unknown key may be another node's new one, so the keys are read again, but not for each forgery. */
const reloadEveryMs = 100;

/** `lifeMs`: of a token. A key signs for `rotateMs` and then counts for as long as tokens of it live. */
export function createTokens(
  query: Query,
  {
    secret,
    lifeMs,
    rotateMs = 30 * dayMs,
  }: { readonly secret: string; readonly lifeMs: number; readonly rotateMs?: number },
): Tokens {
  let keys: readonly SigningKey[] = [];
  let loadedAt = -Infinity;

  async function load(): Promise<void> {
    keys = await listSigningKeys(query, secret);
    loadedAt = performance.now();
  }

  async function signingKey(): Promise<SigningKey> {
    const isFresh = () => keys[0] !== undefined && Date.now() - keys[0].createdAt.getTime() < rotateMs;
    if (!isFresh()) await load();
    if (!isFresh()) {
      await addSigningKey(query, secret);
      await load();
    }
    return keys[0]!;
  }

  async function keyNamed(id: string | undefined): Promise<Uint8Array> {
    const find = () => keys.find((key) => key.id === id);
    if (!find() && performance.now() - loadedAt > reloadEveryMs) await load();
    const key = find();
    if (!key) throw new errors.JWSInvalid("unknown key");
    return key.bytes;
  }

  return {
    async sign({ sessionId, userId, expiresAt }) {
      const { id, bytes } = await signingKey();
      return new SignJWT()
        .setProtectedHeader({ alg: algorithm, kid: id, typ: "JWT" })
        .setIssuer(issuer)
        .setSubject(userId)
        .setJti(sessionId)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(bytes);
    },
    async read(token) {
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyNamed(kid), {
          algorithms: [algorithm],
          issuer,
          requiredClaims: ["jti", "sub", "exp"],
        });
        return { sessionId: payload.jti!, expiresAt: new Date(payload.exp! * 1000) };
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
    async rotate() {
      await signingKey();
      await removeSigningKeys(query, { olderThanMs: rotateMs + lifeMs });
    },
  };
}
