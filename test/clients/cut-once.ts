import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type CutOnce = {
  readonly url: string;
  /** Breaks what is being answered; what is asked later is handed on. */
  cut(): Promise<void>;
  close(): void;
};

/** A way to a server that breaks when it is told to. */
export async function cutOnce(url: string): Promise<CutOnce> {
  const { host } = new URL(url);
  const open = new Set<ServerResponse>();
  let known = Promise.resolve();
  const way = createServer((near, answer) => {
    open.add(answer);
    void known.then(() => {
      const headers = { ...near.headers, host };
      const far = request(url + near.url!, { method: near.method!, headers }, (told) => {
        answer.writeHead(told.statusCode!, told.headers);
        told.pipe(answer);
      });
      far.on("error", () => answer.destroy());
      answer.on("close", () => {
        open.delete(answer);
        far.destroy();
      });
      near.pipe(far);
    });
  });
  way.listen(0, "127.0.0.1");
  await once(way, "listening");
  return {
    url: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    cut() {
      for (const answer of open) answer.destroy();
      // Whoever asks later is heard later: by then the server knows that the connection is gone.
      known = (async () => {
        for (let times = 0; times < 2; times++) await (await fetch(`${url}/livez`)).text();
      })();
      return known;
    },
    close() {
      way.close();
      way.closeAllConnections();
    },
  };
}
