import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { createTaskClient, type TaskClient } from "../src/client/tasks.ts";
import { readHolder } from "../src/store/driver/lock.ts";
import { temporaryFolder } from "./pglite.ts";

const bootstrap = join(import.meta.dirname, "../scripts/bootstrap.mjs");
const groups: number[] = [];
after(() => {
  for (const group of groups) signalGroup(group, "SIGKILL");
});

type Started = {
  readonly group: number;
  readonly url: string;
  readonly tasks: TaskClient;
  /** Resolves when it has written this. */
  wrote(words: string): Promise<void>;
  /** Its exit code, and all that it wrote. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
};

/** Starts a command through the bootstrap, as a service is started: in a process group of its own, without a terminal. */
async function start(cwd: string, args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, [bootstrap, "cli", ...args], {
    cwd,
    detached: true,
    env: { PATH: process.env["PATH"], COLLOQUY_PORT: "0", COLLOQUY_PROBE: "false" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  groups.push(child.pid!);
  let output = "";
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, output }));
  const wrote = async (words: string): Promise<void> => {
    while (!output.includes(words)) {
      const more = Promise.race([once(child.stdout, "data"), once(child.stderr, "data"), ended.then(() => "ended")]);
      if ((await more) === "ended") throw new Error(`It ended without writing ${words}:\n${output.slice(-1000)}`);
    }
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  await wrote("/docs)");
  const url = /listening +(http:\S+)/.exec(output)![1]!;
  return { group: child.pid!, url, tasks: createTaskClient({ url }), wrote, ended };
}

/** Also of a group that is gone. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Adds tasks as fast as they are taken, until nobody takes them any more; resolves when that many are there. */
async function addTasks(tasks: TaskClient, few: number): Promise<void> {
  let added = 0;
  await new Promise<void>((resolve) => {
    const add = async (): Promise<void> => {
      try {
        for (;;) {
          await tasks.add({ title: "load" });
          if (++added === few) resolve();
        }
      } catch {
        // It has stopped.
      }
    };
    for (let each = 0; each < 8; each++) void add();
  });
}

/** A request whose body is not there yet, which a stop waits for. Returns what sends the rest and resolves to the answer. */
async function beginTask({ url, tasks }: Started): Promise<() => Promise<string>> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  socket.on("error", () => {});
  const body = '{"title":"late"}';
  socket.write(
    `POST /api/tasks HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body.slice(0, 5));
  await once(socket, "connect");
  // By the time this is answered, the head of the one before has been read.
  await tasks.list({ limit: 1 });
  return () => {
    socket.write(body.slice(5));
    return text(socket);
  };
}

test("stop: SIGTERM to the process group stops the server once and well, and task numbers go on", async () => {
  const folder = temporaryFolder("stop");
  for (let round = 0; round < 2; round++) {
    const server = await start(folder, ["serve"]);
    const { data: newest } = await server.tasks.list({ limit: 1 });
    const next = await server.tasks.add({ title: "next" });
    assert.equal(next.id, (newest[0]?.id ?? 0) + 1, `round ${round}`);
    const finishTask = await beginTask(server);
    await addTasks(server.tasks, 50);
    signalGroup(server.group, "SIGTERM");
    await server.wrote("stopping: running steps");
    signalGroup(server.group, "SIGTERM");
    const answer = await finishTask();
    const { code, output } = await server.ended;
    assert.match(answer, /^HTTP\/1.1 201 /, output.slice(-1000));
    assert.equal(code, 0, output.slice(-1000));
    assert.equal(output.match(/stopping: running steps/g)?.length, 1);
    assert.equal(readHolder(join(folder, "data")), undefined);
  }
});

test("stop: Ctrl+C again after a while ends at once", async () => {
  const server = await start(temporaryFolder("stop"), ["serve"]);
  await beginTask(server);
  const pressing = setInterval(() => signalGroup(server.group, "SIGINT"), 200);
  const { code } = await server.ended.finally(() => clearInterval(pressing));
  assert.equal(code, 130);
});
