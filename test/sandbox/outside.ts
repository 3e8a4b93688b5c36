import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";

/** What stands around a sandbox on this machine, and must not be seen or reached from within. */
export type Outside = {
  /** Stands in the canary file and in the environment of the victim. */
  readonly secret: string;
  /** A file that anybody may read. */
  readonly canary: string;
  /** A folder that anybody may write to. */
  readonly open: string;
  /** A process of the server's user. */
  readonly victim: ChildProcess;
  /** Of a listener on all addresses. */
  readonly port: number;
  /** One of this machine's addresses; undefined where it has none but loopback. */
  readonly address: string | undefined;
  readonly socket: string;
  /** Of a unix socket without a file. */
  readonly abstractName: string;
  /** How many connections came to any of them since it was asked last. */
  readonly connections: () => number;
  readonly newWorkspace: () => Promise<string>;
  readonly close: () => Promise<void>;
};

export async function openOutside(): Promise<Outside> {
  const secret = randomUUID();
  const folder = await mkdtemp(join(tmpdir(), "colloquy-outside-"));
  // Nothing but the sandbox may stand in the way.
  await chmod(folder, 0o755);
  const canary = join(folder, "canary");
  await writeFile(canary, secret, { mode: 0o644 });
  const open = join(folder, "open");
  await mkdir(open);
  await chmod(open, 0o777);
  const victim = spawn("sleep", ["600"], { env: { PATH: "/usr/bin:/bin", CANARY: secret }, stdio: "ignore" });

  let count = 0;
  const listen = async (where: string | number): Promise<Server> => {
    const server = createServer((connection) => {
      count += 1;
      connection.on("error", () => {}).end("hello");
    });
    await new Promise<void>((resolve) => server.listen(where, resolve));
    return server;
  };
  const [socket, abstractName] = [join(folder, "socket"), `colloquy-${secret}`];
  const servers = [await listen(0), await listen(socket), await listen(`\0${abstractName}`)];
  await chmod(socket, 0o777);
  const bound = servers[0]!.address();
  let workspaces = 0;
  return {
    secret,
    canary,
    open,
    victim,
    port: typeof bound === "object" && bound ? bound.port : 0,
    address: Object.values(networkInterfaces())
      .flat()
      .find((each) => each && !each.internal && each.family === "IPv4")?.address,
    socket,
    abstractName,
    connections() {
      const seen = count;
      count = 0;
      return seen;
    },
    async newWorkspace() {
      const workspace = join(folder, `workspace-${(workspaces += 1)}`);
      await mkdir(workspace);
      return workspace;
    },
    async close() {
      victim.kill("SIGKILL");
      for (const server of servers) server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
