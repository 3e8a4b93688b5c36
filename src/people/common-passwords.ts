/** Of those that are long enough to be taken at all: whoever guesses begins with them. */
const maxListed = 10_000;
const fewestCharacters = 8;

let listed: Promise<ReadonlySet<string>> | undefined;

/** Whether so many have this password that it is guessed among the first, in whatever letter case. */
export async function isCommon(password: string): Promise<boolean> {
  listed ??= readList();
  return (await listed).has(password.toLowerCase());
}

/** Read when somebody sets a password for the first time: most starts never need it. */
async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  const common = new Set<string>();
  // The commonest first.
  for (const password of dictionary["passwords-common"]) {
    if ([...password].length >= fewestCharacters) common.add(password.toLowerCase());
    if (common.size === maxListed) break;
  }
  return common;
}
