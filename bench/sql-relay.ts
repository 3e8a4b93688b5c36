import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type SqlTrip = { readonly text: string; readonly statements: number };

/** Stands between a server and its PostgreSQL and hears the statements of every round trip on the wire. */
export type SqlRelay = {
  /** The same database, through the relay. */
  readonly url: string;
  /** The texts of the round trips since the last question, in order; several statements of one trip are one text. */
  take(): string[];
  /** The bytes that went each way since the last question. */
  takeBytes(): { readonly sent: number; readonly received: number };
  /** The same, and how many statements each was. */
  takeTrips(): SqlTrip[];
  stop(): Promise<void>;
};

const cString = (bytes: Buffer, from: number): string => bytes.toString("utf8", from, bytes.indexOf(0, from));

/**
 * Reads what a client sends. A trip is a simple query, or all up to a Sync: Parse has the text, or Bind names a
 * statement that was parsed before.
 */
function tripReader(hear: (trip: SqlTrip) => void): (bytes: Buffer) => void {
  const named = new Map<string, string>();
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  let texts: string[] = [];
  const message = (type: string, body: Buffer): void => {
    if (type === "Q") hear({ text: cString(body, 0), statements: 1 });
    if (type === "P") {
      const name = cString(body, 0);
      const text = cString(body, Buffer.byteLength(name) + 1);
      named.set(name, text);
    }
    if (type === "B") {
      const portal = cString(body, 0);
      texts.push(named.get(cString(body, Buffer.byteLength(portal) + 1)) ?? "?");
    }
    if (type === "S") {
      hear({ text: texts.join("; "), statements: texts.length });
      texts = [];
    }
  };
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (;;) {
      // The first message of a connection has no type byte.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return;
      if (started) message(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end));
      started = true;
      rest = rest.subarray(end);
    }
  };
}

export async function startSqlRelay(databaseUrl: string): Promise<SqlRelay> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let bytes = { sent: 0, received: 0 };
  let heard: SqlTrip[] = [];
  const takeTrips = (): SqlTrip[] => {
    const taken = heard;
    heard = [];
    return taken;
  };
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on("data", (bytes) => to.write(bytes));
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    client.on(
      "data",
      tripReader((trip) => heard.push(trip)),
    );
    client.on("data", ({ length }) => (bytes.sent += length));
    upstream.on("data", ({ length }) => (bytes.received += length));
    join(client, upstream);
    join(upstream, client);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    takeTrips,
    take: () => takeTrips().map(({ text }) => text),
    takeBytes() {
      const taken = bytes;
      bytes = { sent: 0, received: 0 };
      return taken;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
