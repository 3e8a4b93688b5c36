import { createInterface } from "node:readline";
import { messageOf } from "../../protocol/base/errors.ts";
import { UnreadableFile } from "./parsed.ts";
import type { ChildAnswer } from "./run-child.ts";

/** The other side of `startChild`: does what each line of standard input asks, one after the other, until there is no more. */
export async function answerParent<Request, Value>(work: (request: Request) => Promise<Value>): Promise<void> {
  // Libraries that greet or warn must not speak between the lines.
  const say = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  const answer = (value: ChildAnswer<Value>) => say(`${JSON.stringify(value)}\n`);
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    try {
      answer({ done: await work(JSON.parse(line) as Request) });
    } catch (error) {
      const failed =
        error instanceof UnreadableFile
          ? { code: error.code, message: error.message }
          : { code: "broken" as const, message: `The file can't be read: ${messageOf(error)}` };
      answer({ failed });
    }
  }
}
