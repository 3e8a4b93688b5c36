import { once } from "node:events";
import { type AddressInfo, createServer, connect, type Socket } from "node:net";

/**
 * Stands between a node and PostgreSQL and can be rude. What it swallows is gone, both ways, while every socket stays open
 * and is acknowledged by the kernel: no FIN, no RST, as when a host loses its power or a NAT forgets a connection.
 */
export type SilentProxy = {
  readonly port: number;
  /** The same address, through this proxy. */
  through(url: string): string;
  /** Of the connections that there are; later ones work. */
  silenceOld(): void;
  /** Of those to come as well, until `speak`. */
  silenceAll(): void;
  /** Connections from now on work again; what was silenced stays so. */
  speak(): void;
  /** Every connection that is not silenced is delayed by so much, each way. */
  delay(ms: number): void;
  /** What the database says comes through in pieces, so many bytes a second on each connection. */
  narrow(bytesPerSecond: number): void;
  /** Connections from now on lead to another address. */
  turnTo(url: string): void;
  /** Ends the connections that there are. */
  cut(): void;
  /** Connections at this moment. */
  readonly open: () => number;
  /** Called with what a client sends. `one`: that connection falls silent, and this is the first that is swallowed; `all`: every one does. */
  watch(see: ((text: string) => "one" | "all" | undefined) | undefined): void;
  close(): Promise<void>;
};

type Pair = { readonly client: Socket; readonly server: Socket; silent: boolean; readonly due: Map<Socket, number> };

const pieceBytes = 16 * 1024;

export async function startSilentProxy(to: string): Promise<SilentProxy> {
  let target = new URL(to);
  const pairs = new Set<Pair>();
  let silentFrom = false;
  let delayMs = 0;
  let bytesPerSecond = Infinity;
  let see: ((text: string) => "one" | "all" | undefined) | undefined;

  const silenceOld = (): void => {
    for (const pair of pairs) pair.silent = true;
  };

  function pass(pair: Pair, to: Socket, data: Buffer): void {
    if (pair.silent) return;
    // Nothing overtakes what was delayed before it.
    const now = performance.now();
    const due = Math.max(now + delayMs, pair.due.get(to) ?? 0);
    pair.due.set(to, due);
    if (due <= now) to.write(data);
    else setTimeout(() => pair.silent || to.destroyed || to.write(data), Math.ceil(due - now));
  }

  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true });
    const pair: Pair = { client, server, silent: silentFrom, due: new Map() };
    pairs.add(pair);
    client.on("data", (data) => {
      const wish = pair.silent ? undefined : see?.(data.toString("latin1"));
      if (wish === "one") pair.silent = true;
      if (wish === "all") {
        silentFrom = true;
        silenceOld();
      }
      pass(pair, server, data);
    });
    server.on("data", (data) => {
      for (let at = 0; at < data.length; at += pieceBytes) {
        const piece = data.subarray(at, at + pieceBytes);
        const began = Math.max(performance.now(), pair.due.get(client) ?? 0);
        pair.due.set(client, began + (piece.length / bytesPerSecond) * 1000);
        pass(pair, client, piece);
      }
    });
    for (const [from, other] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("error", () => {});
      from.on("close", () => {
        // Nobody hears of the end of what is silent.
        if (!pair.silent) other.destroy();
        if (client.destroyed && server.destroyed) pairs.delete(pair);
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    port,
    through(url) {
      const address = new URL(url);
      address.hostname = "127.0.0.1";
      address.port = String(port);
      return address.href;
    },
    silenceOld,
    silenceAll() {
      silentFrom = true;
      silenceOld();
    },
    speak: () => void (silentFrom = false),
    narrow: (most) => void (bytesPerSecond = most),
    delay: (ms) => void (delayMs = ms),
    turnTo: (url) => void (target = new URL(url)),
    cut() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
    },
    open: () => pairs.size,
    watch: (watcher) => void (see = watcher),
    async close() {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      proxy.close();
      await once(proxy, "close");
    },
  };
}
