/** Names of types: each says what the thing is, and one name stands for one thing. */

const maxDeclarations = 3;
const maxShared = 25;

/** Verb forms that don't end in `ed` or `ing`. */
const irregular =
  /^(?:Begun|Brought|Built|Cut|Done|Drawn|Given|Gone|Got|Heard|Held|Hidden|Kept|Known|Left|Lost|Made|Met|Paid|Put|Read|Said|Seen|Sent|Set|Shown|Sought|Spent|Spoken|Stood|Taken|Told|Tried|Was|Were|Written)$/;
/** Nouns that look like verb forms. */
const nouns = new Set(["Finding", "Spending", "Feed"]);

/** `texts`: of each file, what it holds. */
export function confusingNames(texts) {
  const declaredIn = new Map();
  for (const [file, text] of texts)
    for (const [, name] of text.matchAll(
      /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) ([A-Za-z_]\w*)/gm,
    ))
      declaredIn.set(name, [...(declaredIn.get(name) ?? []), file]);
  const problems = [];
  for (const [name, files] of declaredIn) {
    if (files.length > maxDeclarations)
      problems.push(`${files.length} types are called ${name}, at most ${maxDeclarations}: ${files.join(", ")}`);
    if (isVerbForm(name)) problems.push(`${files[0]} calls a type ${name}: a name is a noun, the thing that it is`);
  }
  const shared = [...declaredIn].filter(([, files]) => files.length > 1).map(([name]) => name);
  if (shared.length > maxShared)
    problems.push(`${shared.length} names are given to more than one type, at most ${maxShared}: ${shared.join(", ")}`);
  return problems;
}

function isVerbForm(name) {
  return irregular.test(name) || (/^[A-Z][a-z]*(?:ed|ing)$/.test(name) && !nouns.has(name));
}
