import { useSyncExternalStore } from "react";
import type { TaigaToken } from "../../src/protocol/threads/taiga.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { createTaigaClient } from "../../src/client/taiga.ts";
import { createListeners } from "../browser/listeners.ts";
import { server } from "../page/server.ts";

export const taiga = createTaigaClient(server);

/** `name`: undefined for a token that was pasted. */
export type StoredTaigaLogin = TaigaToken & { readonly name?: string };
type LoginState = {
  readonly login: StoredTaigaLogin | undefined;
  /** Taiga took the last one no more. */ readonly isOver: boolean;
};

/** In this tab alone, and gone with it: never in an address. */
const key = "colloquy-taiga-login";
let state: LoginState = { login: read(), isOver: false };
const listeners = createListeners();

export function useLogin(): LoginState {
  return useSyncExternalStore(listeners.listen, () => state);
}

export function setLogin(login: StoredTaigaLogin | undefined, { isOver = false } = {}): void {
  if (login) sessionStorage.setItem(key, JSON.stringify(login));
  else sessionStorage.removeItem(key);
  state = { login, isOver };
  listeners.tell();
}

/** Whoever is refused signs in anew; what they wrote stays. */
export async function withLogin<Answer>(
  work: (login: StoredTaigaLogin | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { login } = state;
  try {
    return await work(login);
  } catch (error) {
    const isRefused = error instanceof ColloquyError && error.code === "taiga_login_refused";
    // A late answer says nothing of who has signed in since.
    if (isRefused && state.login === login) setLogin(undefined, { isOver: true });
    throw error;
  }
}

function read(): StoredTaigaLogin | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "null") as StoredTaigaLogin | null;
    return typeof kept?.token === "string" ? kept : undefined;
  } catch {
    return undefined;
  }
}
