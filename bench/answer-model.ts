import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What a long answer is made of; its size is in characters of prose, lines of code, rows of a table. */
export type AnswerKind = "prose" | "code" | "table";
export const answerEnd = "That was the whole answer.";

/** How a message asks for an answer. */
export function askFor(kind: AnswerKind, size: number): string {
  return `${kind} ${size}`;
}

/** The pieces of a tick leave together; now and then a model pauses, and catches up. */
const [tickMs, pauseTicks] = [20, 5];

/** Faster than today's models, so that a long answer takes seconds and not minutes. */
const charactersPerTick = 300;

/** Speaks the OpenAI wire and answers with what the last message asks for (`askFor`), in pieces of a few letters that come in bursts. */
export async function startAnswerModel(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.end('{"object":"list","data":[]}');
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const asked = Buffer.concat(parts).toString();
      const [, kind = "prose", size = "100"] = [...asked.matchAll(/(prose|code|table) (\d{1,7})/g)].at(-1) ?? [];
      void stream(response, answerOf[kind as AnswerKind](Number(size)));
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function stream(response: ServerResponse, text: string): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let from = 0;
  for (let tick = 0; from < text.length && !response.destroyed; tick++) {
    const pauses = tick % 40 === 39;
    if (pauses) await sleep(tickMs * pauseTicks);
    const until = from + charactersPerTick * (pauses ? pauseTicks : 1);
    let events = "";
    for (let piece = 0; from < until && from < text.length; piece++) {
      const end = from + 2 + ((tick + piece * 7) % 11);
      events += chunk({ content: text.slice(from, end) });
      from = end;
    }
    response.write(events);
    await sleep(tickMs);
  }
  response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
}

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: "a", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

/** Of all that models write: paragraphs, headings, lists, tables, quotations, a little code. */
function proseAnswer(characters: number): string {
  let text = "";
  for (let part = 1; text.length < characters - answerEnd.length; part++) text += proseBlock(part);
  return `${text}${answerEnd}\n`;
}

function proseBlock(part: number): string {
  const sentence = `The **brown** fox of part ${part} jumps over the *lazy* dog, and \`explains(${part})\` at some length why it does. `;
  switch (part % 12) {
    case 1:
      return `## Part ${part}\n\n`;
    case 4:
      return `- first, since it can\n- then, since it *likes* to, as [foxes](https://example.com/${part}) do\n- last, since nobody minds\n\n`;
    case 7:
      return `| what | how often |\n|---|---|\n| jumps | ${part} |\n| rests | **never** |\n\n`;
    case 9:
      return `\`\`\`js\nconst fox = jump(${part});\nexport default fox;\n\`\`\`\n\n`;
    case 11:
      return `> ${sentence}\n\n`;
    default:
      return `${sentence.repeat(2 + (part % 4))}\n\n`;
  }
}

function tableAnswer(rows: number): string {
  const row = (at: number) => `| jumps ${at} | **never** before ${at} | \`over(${at})\` and some words more |\n`;
  return `| what | how often | where |\n|---|---|---|\n${Array.from({ length: rows }, (_, at) => row(at)).join("")}\n${answerEnd}\n`;
}

function codeAnswer(lines: number): string {
  const code = Array.from({ length: lines }, (_, line) => codeLine(line)).join("\n");
  return `Here it is:\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${answerEnd}\n`;
}

function codeLine(line: number): string {
  switch (line % 6) {
    case 0:
      return `/** Jumps ${line} times, and says so. */`;
    case 1:
      return `export function jump${line}(fox: Fox, over: readonly Dog[] = []): string {`;
    case 2:
      return `  const name = fox.name ?? "nobody of ${line}";`;
    case 3:
      return `  return \`\${name} jumped \${over.length * ${line}} times\`;`;
    case 4:
      return "}";
    default:
      return "";
  }
}

const answerOf: Readonly<Record<AnswerKind, (size: number) => string>> = {
  prose: proseAnswer,
  code: codeAnswer,
  table: tableAnswer,
};
