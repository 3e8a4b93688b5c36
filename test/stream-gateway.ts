import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type FollowedSubject = { readonly of: string; readonly id?: string };

/** Stands before a server, and counts the event streams that a browser holds. */
export type StreamGateway = {
  readonly url: string;
  /** Event streams that are open, and how many there have been. */
  readonly open: () => number;
  readonly begun: () => number;
  /** What the open ones follow together. */
  readonly followed: () => readonly FollowedSubject[];
  /** Requests from now on go to another server. */
  turnTo(url: string): void;
  /** Until it is said to be over: streams that are open hear nothing more and stay open, and nobody is answered. */
  beSilent(isSilent: boolean): void;
  close(): Promise<void>;
};

export async function startStreamGateway(to: string): Promise<StreamGateway> {
  let target = new URL(to);
  let begun = 0;
  let isSilent = false;
  const streams = new Map<ServerResponse, readonly FollowedSubject[]>();
  const server = createServer((asked, answer) => {
    if (isSilent) return;
    const { method, url = "/", headers } = asked;
    if (/^\/api\/(.*\/)?events\b/.test(url)) {
      begun++;
      streams.set(answer, []);
      let body = "";
      asked.on("data", (data: Buffer) => (body += data.toString()));
      asked.on("end", () => {
        const { subjects } = JSON.parse(body) as { subjects: readonly FollowedSubject[] };
        if (streams.has(answer)) streams.set(answer, subjects);
      });
      answer.once("close", () => streams.delete(answer));
    }
    // The server takes what comes from its own address for its own page.
    const own = { ...headers, host: target.host, ...(headers.origin !== undefined && { origin: target.origin }) };
    const onward = request(
      { host: target.hostname, port: target.port, method, path: url, headers: own },
      (answered) => {
        answer.writeHead(answered.statusCode!, answered.headers);
        answered.on("data", (data: Buffer) => isSilent || answer.write(data));
        answered.on("end", () => isSilent || answer.end());
        answered.on("error", () => isSilent || answer.destroy());
      },
    );
    onward.on("error", () => isSilent || answer.destroy());
    answer.once("close", () => onward.destroy());
    asked.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => streams.size,
    begun: () => begun,
    followed: () => [...streams.values()].flat(),
    turnTo: (url) => void (target = new URL(url)),
    beSilent: (silent) => void (isSilent = silent),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
