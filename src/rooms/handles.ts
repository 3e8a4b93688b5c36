import { everybody } from "./mentions.ts";

/** What the owner of a room is called in it, unless an agent is. */
export const ownersHandle = "user";

/** What a person is called in a room: the account's name as far as it can be mentioned, and nobody else's. */
export function handleFor(name: string, taken: readonly string[]): string {
  const plain = name
    .split("@", 1)[0]!
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, "_")
    .replaceAll(/^[-_]+|[-_]+$/g, "")
    .slice(0, 40);
  const base = plain === "" || everybody.includes(plain) ? "person" : plain;
  for (let number = 1; ; number++) {
    const handle = number === 1 ? base : `${base}${number}`;
    if (!taken.includes(handle)) return handle;
  }
}
