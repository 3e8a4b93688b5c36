import { connect, type Socket } from "node:net";
import { serveCommands } from "./child.ts";
import { tokenMark } from "./script.ts";

/** Followers of a thread on raw sockets, in a process of their own: they cost less than what they are told. */
type Followers = { readonly port: number; readonly path: string; readonly count: number };

const mark = tokenMark.charCodeAt(0);
const sockets = new Set<Socket>();
let tokens = 0;
let events = 0;
let changed = () => {};

function follow({ port, path }: Followers): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    sockets.add(socket);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("A follower was cut off.")));
    socket.once("data", (bytes) =>
      bytes.toString().startsWith("HTTP/1.1 200") ? resolve() : reject(new Error(bytes.toString())),
    );
    socket.on("data", (bytes) => {
      for (let at = bytes.indexOf("text-delta\nid"); at !== -1; at = bytes.indexOf("text-delta\nid", at + 1)) events++;
      // The finished message says its tokens once more.
      for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) tokens++;
      changed();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  });
}

serveCommands({
  open: async (input: Followers): Promise<void> => {
    await Promise.all(Array.from({ length: input.count }, () => follow(input)));
  },
  /** Resolves to the events of live text once all followers together were told so many tokens. */
  told: async (wanted: number): Promise<number> => {
    await new Promise<void>((resolve) => {
      changed = () => tokens >= wanted && resolve();
      changed();
    });
    const counted = events;
    if (tokens !== wanted) throw new Error(`${tokens} tokens were told instead of ${wanted}`);
    tokens = 0;
    events = 0;
    return counted;
  },
});
