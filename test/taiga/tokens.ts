import { createHmac, randomUUID } from "node:crypto";
import { notAuthenticated, signInError } from "./errors.ts";
import type { User } from "./world.ts";

const accessSeconds = 24 * 60 * 60;
const refreshSeconds = 8 * accessSeconds;
const signingKey = randomUUID();

type Claims = {
  readonly token_type: "access" | "refresh";
  readonly exp: number;
  readonly jti: string;
  readonly user_id: number;
};

export type TokenPair = { readonly auth_token: string; readonly refresh: string };

/** Signed tokens that end after a day or eight, or when a test says so. */
export class Tokens {
  /** By `jti`: expired access tokens, and refresh tokens that were used or ended. */
  readonly #ended = new Set<string>();
  readonly #issued: Claims[] = [];
  readonly #users: readonly User[];

  constructor(users: readonly User[]) {
    this.#users = users;
  }

  pairFor(user: User): TokenPair {
    return { auth_token: this.#sign(user.id, "access"), refresh: this.#sign(user.id, "refresh") };
  }

  /** Rotates: the old refresh token is not taken again. */
  refresh(token: string): TokenPair {
    const claims = this.#valid(token, "refresh");
    if (!claims) throw signInError("Token is invalid or expired", "token_not_valid");
    this.#ended.add(claims.jti);
    return { auth_token: this.#sign(claims.user_id, "access"), refresh: this.#sign(claims.user_id, "refresh") };
  }

  /** Undefined without credentials, or with a scheme that Taiga does not know. */
  userOf(authorization: string | undefined): User | undefined {
    const [scheme, token, ...rest] = authorization?.split(" ").filter(Boolean) ?? [];
    if (scheme === "Application") {
      const user = this.#users.find((each) => each.applicationToken === token);
      if (!user) throw notAuthenticated("Invalid token");
      return user;
    }
    if (scheme !== "Bearer") return undefined;
    if (token === undefined || rest.length > 0) {
      throw signInError("Authorization header must contain two space-delimited values", "bad_authorization_header");
    }
    const claims = this.#valid(token, "access");
    const user = this.#users.find((each) => each.id === claims?.user_id);
    if (!user) {
      const message = { token_class: "AccessToken", token_type: "access", message: "Token is invalid or expired" };
      throw signInError("Given token not valid for any token type", "token_not_valid", [message]);
    }
    return user;
  }

  /** Ends all access tokens given out so far, of one user or of everybody; with `refresh` the refresh tokens too. */
  expire({ user, refresh = false }: { readonly user?: User | undefined; readonly refresh?: boolean } = {}): void {
    for (const claims of this.#issued) {
      if (user && claims.user_id !== user.id) continue;
      if (claims.token_type === "access" || refresh) this.#ended.add(claims.jti);
    }
  }

  #sign(userId: number, type: Claims["token_type"]): string {
    const seconds = type === "access" ? accessSeconds : refreshSeconds;
    const exp = Math.floor(Date.now() / 1000) + seconds;
    const claims: Claims = { token_type: type, exp, jti: randomUUID().replaceAll("-", ""), user_id: userId };
    this.#issued.push(claims);
    const content = [{ typ: "JWT", alg: "HS256" }, claims].map(encode).join(".");
    return `${content}.${signatureOf(content)}`;
  }

  #valid(token: string, type: Claims["token_type"]): Claims | undefined {
    const [header, payload, signature] = token.split(".");
    if (payload === undefined || signatureOf(`${header}.${payload}`) !== signature) return undefined;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims;
    const over = claims.exp * 1000 <= Date.now() || this.#ended.has(claims.jti);
    return claims.token_type === type && !over ? claims : undefined;
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function signatureOf(content: string): string {
  return createHmac("sha256", signingKey).update(content).digest("base64url");
}
