/** The route takes no longer one. */
const longest = 500;

/** The same with the next number that no other has: `Plan`, `Plan (2)`, `Plan (3)`. */
export function titleOfCopy(title: string, others: readonly string[]): string {
  const [, begin = title, number = "1"] = /^(.*\S) \((\d{1,4})\)$/s.exec(title) ?? [];
  const taken = new Set(others);
  for (let at = Number(number) + 1; ; at++) {
    const end = ` (${at})`;
    const named = begin.slice(0, longest - end.length).toWellFormed() + end;
    if (!taken.has(named)) return named;
  }
}
