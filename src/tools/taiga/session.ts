import { z } from "zod";
import type { TaigaToken } from "../../protocol/threads/taiga.ts";
import { TaigaFailure } from "./failure.ts";

export type TaigaLogin = TaigaToken | { readonly username: string; readonly password: string };

/** Somebody who is signed in. */
export type TaigaSession = {
  /** The Authorization header; signs in first if need be. */
  header(): Promise<string>;
  /** After a 401 for this header: true if there is another one now. Many may ask; it is done once. */
  renew(refused: string): Promise<boolean>;
};

export type SessionOptions = {
  readonly login: TaigaLogin;
  /** A POST without a login; throws TaigaFailure. */
  readonly post: (path: string, body: object) => Promise<unknown>;
  /** Old tokens are worth nothing from here on. */
  readonly onRenewed?: (token: TaigaToken) => Promise<void>;
};

const pairSchema = z.looseObject({ auth_token: z.string(), refresh: z.string().optional() });

export function createSession({ login, post, onRenewed }: SessionOptions): TaigaSession {
  let current: TaigaToken | undefined = "token" in login ? login : undefined;
  let renewing: Promise<boolean> | undefined;

  async function signIn(): Promise<TaigaToken | undefined> {
    if ("token" in login) return undefined;
    return tokenIn(await post("/auth", { type: "normal", username: login.username, password: login.password }));
  }

  async function refreshed(): Promise<TaigaToken | undefined> {
    const refresh = current?.refresh;
    if (refresh === undefined) return undefined;
    try {
      return tokenIn(await post("/auth/refresh", { refresh }));
    } catch (error) {
      if (error instanceof TaigaFailure && error.status === 401) return undefined;
      throw error;
    }
  }

  async function renewOnce(): Promise<boolean> {
    const next = (await refreshed()) ?? (await signIn());
    if (!next) return false;
    current = next;
    await onRenewed?.(next);
    return true;
  }

  const renewShared = (): Promise<boolean> =>
    (renewing ??= renewOnce().finally(() => {
      renewing = undefined;
    }));

  return {
    async header() {
      if (!current) await renewShared();
      return headerOf(current?.token ?? "");
    },
    async renew(refused) {
      return headerOf(current?.token ?? "") !== refused || renewShared();
    },
  };
}

/** What a login or its renewal answers. */
export function tokenIn(body: unknown): TaigaToken {
  const parsed = pairSchema.safeParse(body);
  if (!parsed.success) throw new TaigaFailure(0, "Taiga: its answer to the login is not one.");
  return { token: parsed.data.auth_token, refresh: parsed.data.refresh };
}

/** `Application …` and `Bearer …` may stand before a token; alone it is a person's. */
function headerOf(token: string): string {
  return /^(Application|Bearer) /.test(token) ? token : `Bearer ${token}`;
}
