/**
 * Words and phrases that the page, the command line, the terminal and the documentation may not say, each with what to say instead.
 * Checks only texts: strings of a file that is not a test, without addresses and keys, and the prose of a page. Names in code are free.
 */

/** A phrase in lower case (it begins and ends at the bounds of words), and its replacement. */
export const unnatural = new Map([
  ["put away", "Archive"],
  ["bring back", "Unarchive, Restore"],
  ["go on", "Continue"],
  ["goes on", "Continue"],
  ["gone on", "Continued"],
  ["go on elsewhere", "Fork"],
  ["answer again", "Retry"],
  ["stop here", "End run"],
  ["for ever", "permanently, indefinitely"],
  ["forever", "permanently, indefinitely"],
  ["let in", "Invite"],
  ["take out", "Remove"],
  ["come in", "Join"],
  ["take back", "Remove, Revoke"],
  ["taken back", "revoked"],
  ["withdraw", "Revoke"],
  ["withdrawn", "revoked"],
  ["what ran", "Runs"],
  ["begun", "Started"],
  ["begin", "Start"],
  ["began", "started"],
  ["anew", "again, from the start"],
  ["shall be", "should, will"],
  ["shall the", "should the"],
  ["may be empty", "optional"],
  ["by hand", "manually"],
  ["look into it", "Preview"],
  ["waits its turn", "Queued"],
  ["waiting its turn", "queued"],
  ["waits for you", "Needs your input"],
  ["waiting for you", "needs your input"],
  ["at work", "running, working"],
  ["what became of", "Outcome"],
  ["what for", "Label"],
  ["as wanted", "All succeeded"],
  ["again and again", "Repeat"],
  ["as before", "Reset"],
  ["one to a line", "one per line"],
  ["one a line", "one per line"],
  ["said by", "From"],
  ["cut to", "Scopes"],
  ["all else", "Everything else"],
  ["nevertheless", "anyway"],
  ["the present", "Current"],
  ["is not whole", "incomplete"],
  ["nobody in particular", "none"],
  ["without bound", "no limit"],
  ["worth knowing", "Note"],
  ["to mend", "to fix"],
  ["mended", "fixed"],
  ["to be changed there", "Change it there."],
  ["is there again", "is back"],
  ["first word", "first token"],
  ["keep so long", "Save"],
  ["asked as", "Provider"],
  ["wants you", "requires you"],
  ["whoever has", "Anyone with"],
  ["make a key", "Create key"],
  ["make a group", "Create group"],
  ["make an account", "Create account"],
  ["there is nothing at", "not found"],
  ["does not count", "is ignored"],
  ["that is not json", "This is not valid JSON."],
]);

/** Phrases that no page of the documentation may say, with what to say instead. */
export const unnaturalInDocs = new Map([
  ["anew", "again"],
  ["in vain", "without success"],
  ["for ever", "permanently, indefinitely"],
  ["nevertheless", "anyway"],
  ["of one's own", "your own"],
  ["for want of", "without"],
  ["what became of", "what happened to, the outcome of"],
  ["whoever", "anyone who, people who"],
  ["may everything", "can do everything"],
  ["all that the account may", "everything the account can do"],
]);

const patternOf = (phrases) =>
  new RegExp(`(?<![\\w-])(?:${[...phrases.keys()].sort((a, b) => b.length - a.length).join("|")})(?![\\w-])`, "gi");
const pattern = patternOf(unnatural);
const docsPattern = patternOf(unnaturalInDocs);

/** What speaks to users: the page's English words, the command line and the terminal. */
function speaks(file) {
  return (
    /^web\/words\/en\/[\w-]+\.po$/.test(file) ||
    /^src\/(cli\.ts|(cli|tui)\/.*\.ts|http\/routes\/account\/page-words\.ts)$/.test(file)
  );
}

/** Each phrase in what `files` say to users, a line each. */
export function unnaturalWords(files, read) {
  const spoken = files.filter((file) => speaks(file) && !file.endsWith(".test.ts"));
  const pages = files.filter((file) => /^docs\/[\w-]+\.md$/.test(file));
  return [
    ...spoken.flatMap((file) =>
      [...new Set(textsOf(read(file)))].flatMap((text) => found(file, text, pattern, unnatural)),
    ),
    ...pages.flatMap((file) => proseOf(read(file)).flatMap((line) => found(file, line, docsPattern, unnaturalInDocs))),
  ];
}

function found(file, text, phrases, instead) {
  return [...text.matchAll(phrases)].map(
    ([said]) => `${file} says “${said}” in “${text.trim().slice(0, 60)}”; say: ${instead.get(said.toLowerCase())}`,
  );
}

/** The lines of a page without its fenced blocks, code, and links to tests, whose texts are the tests' names. */
function proseOf(page) {
  return page
    .replace(/^```.*?^```$/gms, "")
    .replace(/`[^`\n]*`|\[[^\]]*\]\([^)]*\.test\.tsx?\)/g, "")
    .split("\n");
}

/** Texts of several words, or of one that begins with a capital: the others are keys and values. */
function textsOf(source) {
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
    .replace(/^(?:import|export)\b[^;]*\bfrom "[^"]*";$/gm, "");
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)]
    .map(([text]) => text.slice(1, -1).replace(/\$\{[^{}]*\}/g, "…"))
    .filter((text) => /\s/.test(text.trim()) || /^\p{Lu}/u.test(text));
}
