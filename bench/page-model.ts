import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Speaks the OpenAI wire, and answers everything with Markdown, a word each 20 ms, until it is stopped. */
export async function startPageModel(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.end('{"object":"list","data":[]}');
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    void (async () => {
      for (let at = 0; !response.destroyed && at < 3000; at++) {
        const delta = { content: wordAt(at) };
        response.write(`data: ${JSON.stringify({ id: "a", choices: [{ index: 0, delta }] })}\n\n`);
        await sleep(20);
      }
      response.end(
        `data: ${JSON.stringify({ id: "a", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
      );
    })();
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

/** Paragraphs of some forty words, with a list now and then. */
function wordAt(at: number): string {
  const word = at % 11 === 0 ? `**word${at}** ` : `word${at} `;
  if (at % 41 === 40) return `${word}\n\n`;
  return Math.floor(at / 41) % 4 === 3 && at % 8 === 0 ? `\n- ${word}` : word;
}
