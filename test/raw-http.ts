import { once } from "node:events";
import { connect } from "node:net";

export type RawConnection = {
  /** Sends these bytes as they are. */
  send(bytes: string | Buffer): void;
  /** All that the server has sent, once it has ended the connection. */
  readonly answer: Promise<string>;
  /** Resolves when the server has sent this. */
  got(words: string): Promise<void>;
  /** Breaks the connection off. */
  destroy(): void;
};

/** A connection on which a test sends what no proper client would. */
export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  let text = "";
  socket.on("data", (data: Buffer) => (text += data.toString()));
  // A server that closes while something is on its way to it resets the connection: no failure here.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  return {
    send: (bytes) => void socket.write(bytes),
    answer: closed.then(() => text),
    async got(words) {
      while (!text.includes(words)) {
        if (socket.closed) throw new Error(`The connection was closed before ${JSON.stringify(words)} came: ${text}`);
        await Promise.race([once(socket, "data"), closed]);
      }
    },
    destroy: () => void socket.destroy(),
  };
}

/** The head of a POST with a body. */
export function headOf(url: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
