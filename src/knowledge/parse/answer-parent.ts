import { text } from "node:stream/consumers";
import { messageOf } from "../../protocol/errors.ts";
import { UnreadableFile } from "./parsed.ts";
import type { ChildAnswer } from "./run-child.ts";

/** The other side of `runChild`: does what is told on standard input, and answers on standard output. */
export async function answerParent<Request, Value>(work: (request: Request) => Promise<Value>): Promise<void> {
  const request = JSON.parse(await text(process.stdin)) as Request;
  // Libraries that greet or warn must not speak between the lines.
  const say = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  const answer = (text: ChildAnswer<Value>) => say(JSON.stringify(text));
  try {
    answer({ done: await work(request) });
  } catch (error) {
    const failed =
      error instanceof UnreadableFile
        ? { code: error.code, message: error.message }
        : { code: "broken" as const, message: `The file can't be read: ${messageOf(error)}` };
    answer({ failed });
  }
}
