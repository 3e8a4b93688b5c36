import { hash, verify } from "@node-rs/bcrypt";
import { InvalidInput, Unavailable } from "../protocol/base/errors.ts";
import { isCommon } from "./common-passwords.ts";

/** What bcrypt reads of a password: whatever comes after it would be ignored. */
const maxBytes = 72;
const fewestCharacters = 8;
/** Of Node's four threads for files, names and hashes as many stay free for the others. */
const atOnce = 2;

export type Passwords = {
  /** Throws InvalidInput for a password that may not be, Unavailable when too many wait. */
  hash(password: string, signal: AbortSignal): Promise<string>;
  /** False, after as long, for nobody's hash too. `first` is asked when its turn has come: it may throw. */
  verify(attempt: PasswordAttempt, signal: AbortSignal): Promise<boolean>;
};

export type PasswordAttempt = {
  readonly password: string;
  readonly hash: string | null | undefined;
  readonly first?: () => Promise<void>;
};

/** bcrypt in Node's thread pool, a few at a time. `cost` is its logarithm: 12 takes about a quarter of a second. */
export function createPasswords({ cost = 12 }: { readonly cost?: number } = {}): Passwords {
  const gate = createGate({ atOnce, maxWaiting: 500 });
  const hashOf = (password: string) => hash(password, { cost, rejectLongPasswords: true });
  let nobodys: Promise<string> | undefined;
  return {
    async hash(password, signal) {
      const checked = checkedPassword(password);
      if (await isCommon(checked)) throw tooCommon();
      return gate(() => hashOf(checked), signal);
    },
    verify: ({ password, hash: known, first }, signal) =>
      gate(async () => {
        await first?.();
        nobodys ??= hashOf("nobody has this password");
        const asked = password.normalize("NFC");
        const isPossible = Buffer.byteLength(asked) <= maxBytes && !asked.includes("\0");
        const fits = await verify(isPossible ? asked : "", known ?? (await nobodys));
        return fits && isPossible && typeof known === "string";
      }, signal),
  };
}

/** The password as it is hashed: the same whatever keyboard it was typed on. Throws InvalidInput in words for a person. */
export function checkedPassword(password: string): string {
  const text = password.normalize("NFC");
  const refuse = (code: string, message: string) => new InvalidInput(message, { code, param: "password" });
  const characters = [...text].length;
  if (characters < fewestCharacters)
    throw refuse(
      "password_too_short",
      `A password has at least ${fewestCharacters} characters; this one ${characters}.`,
    );
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes)
    throw refuse(
      "password_too_long",
      `A password has at most ${maxBytes} bytes, and this one has ${bytes} in its ${characters} characters: an emoji takes 4 ` +
        "or more, a Chinese or Japanese character 3, ä or é 2, a plain letter 1. The rest would not count, so it is refused.",
    );
  if (text.includes("\0") || !text.isWellFormed())
    throw refuse("password_malformed", "A password has no NUL and no half of a character in it.");
  return text;
}

function tooCommon(): InvalidInput {
  return new InvalidInput(
    "This is one of the 10,000 most common passwords. Choose another one, such as a few unrelated words.",
    { code: "password_common", param: "password" },
  );
}

/** Does the work when its turn has come. Throws Unavailable when too many wait, and the signal's reason while it waits. */
type WorkQueue = <Value>(work: () => Promise<Value>, signal: AbortSignal) => Promise<Value>;

/** Lets a few in at a time and the others wait in a bounded queue. */
function createGate({ atOnce, maxWaiting }: { readonly atOnce: number; readonly maxWaiting: number }): WorkQueue {
  const waiting = new Set<() => void>();
  let inside = 0;

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        waiting.delete(enter);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return async (work, signal) => {
    signal.throwIfAborted();
    if (inside < atOnce) inside++;
    else if (waiting.size >= maxWaiting)
      throw new Unavailable("Too many logins at the moment. Try again.", { code: "busy", retryAfterSeconds: 5 });
    // Whoever leaves hands over the place.
    else await turn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else inside--;
    }
  };
}
