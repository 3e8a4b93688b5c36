import { compareRow } from "./declared.ts";
import type { Describer } from "./describe.ts";
import { neverNull, unchecked } from "./exceptions.ts";
import type { Statement, Statements } from "./statements.ts";

export type CheckOptions = {
  readonly describer: Describer;
  /** Further texts, by the place of the call that sends them. */
  readonly samples?: ReadonlyMap<string, ReadonlySet<string>>;
};

/** Returns what is wrong with the statements, and which exceptions were needed. */
export async function checkStatements({ statements, checker }: Statements, { describer, samples }: CheckOptions) {
  const problems = new Set<string>();
  const needed = new Set<string>();

  async function check({ file, line, within, call, place, ...read }: Statement): Promise<void> {
    const sampled = samples?.get(place);
    const note = (problem: string) => problems.add(`${file}:${line}: ${problem}`);
    const name = `${file} ${within}`;
    if (!read.isWhole && !sampled && unchecked[name] !== undefined) needed.add(name);
    else if (!read.isWhole && !sampled)
      note(
        `the text of this statement can't be read from the source, because it depends on values known only at run time.
    Build it from constants, add a call that sends it to test/sql/samples.ts, or add "${name}" with a reason to test/sql/exceptions.ts.`,
      );
    for (const text of new Set([...read.texts, ...(sampled ?? [])])) {
      try {
        for (const { column, problem, isNull } of compareRow(call, await describer.describe(text), checker)) {
          const exception = `${name} ${column}`;
          if (isNull && neverNull[exception] !== undefined) needed.add(exception);
          else if (isNull)
            note(`${problem}\n    If it never is, add "${exception}" with the reason to test/sql/exceptions.ts.`);
          else note(problem);
        }
      } catch (error) {
        note(`the database rejects this statement: ${String(error)}`);
      }
    }
  }

  for (const statement of statements) await check(statement);
  return { problems: [...problems], needed };
}
