import { createHash, randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox, SandboxCommand, SandboxResult } from "../../src/sandbox/sandbox.ts";
import { measure } from "../../src/sandbox/workspace/measure.ts";
import type { Outside } from "./outside.ts";

export type Kit = {
  readonly sandbox: Sandbox;
  readonly outside: Outside;
  /** A new one for each probe. */
  readonly workspace: string;
  readonly run: (script: string, options?: Partial<SandboxCommand>) => Promise<SandboxResult>;
};

/** Tries to do harm. Undefined: it could not; else what it could. */
export type Probe = (kit: Kit) => Promise<string | undefined>;

const megabyte = 1024 ** 2;
const unless = (held: boolean, text: string): string | undefined => (held ? undefined : text);
const outputOf = ({ stdout, stderr }: SandboxResult): string => stdout.text + stderr.text;

/** Python, since a shell can't connect to unix sockets. */
const connect = (address: string): string => `python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(${address})
print(s.recv(5))'`;

async function grows(path: string): Promise<boolean> {
  const size = async () => (await stat(path).catch(() => undefined))?.size ?? 0;
  const before = await size();
  await sleep(120);
  return (await size()) > before;
}

/** A child in a session of its own writes into a file; not for ever, lest it outlive the test. */
const beating = `setsid sh -c 'i=0; while [ $i -lt 500 ]; do echo >> beat; sleep 0.02; i=$((i+1)); done' > /dev/null 2>&1 &
i=0; while [ ! -s beat ] && [ $i -lt 50 ]; do sleep 0.02; i=$((i+1)); done`;

/** They must do no harm where nothing holds them: a test may run them on the machine itself. */
export const probes: Readonly<Record<string, Probe>> = {
  // What is not its business.
  async "a file of this machine"({ run, outside }) {
    const seen = outputOf(await run(`cat ${outside.canary}; ls -la /root /home; cat /workspace/../${outside.canary}`));
    return unless(!seen.includes(outside.secret), "it could be read");
  },
  async "/etc/shadow"({ run }) {
    return unless(!/^root:[^:]*:\d/m.test((await run("cat /etc/shadow")).stdout.text), "it could be read");
  },
  async "environments through /proc"({ run, outside }) {
    const own = await readFile("/proc/self/environ", "utf8");
    const seen = outputOf(await run("cat /proc/*/environ /proc/self/environ; env"));
    return unless(!seen.includes(outside.secret) && !seen.includes(own), "those of other processes could be read");
  },
  async "its own environment"({ run }) {
    const { stdout } = await run("env", { env: { GIVEN: "yes" } });
    const lines = stdout.text.split("\n");
    // What is the same by chance says nothing.
    const passedOn = Object.entries(process.env).filter(
      ([name, value]) => (value ?? "").length > 8 && lines.includes(`${name}=${value}`),
    );
    return unless(
      lines.includes("GIVEN=yes") && passedOn.length === 0,
      `has ${passedOn.map(([name]) => name).join(", ")}`,
    );
  },
  async "processes of this machine"({ run, outside }) {
    const pid = outside.victim.pid!;
    const seen = (await run(`cat /proc/${pid}/cmdline /proc/${process.pid}/cmdline`)).stdout.text;
    return unless(!seen.includes("sleep") && !seen.includes("node"), "they could be seen");
  },
  async "signals to this machine"({ run, outside }) {
    // Such as do no harm where they arrive.
    const { stdout } = await run(`kill -CONT ${outside.victim.pid} && echo sent; kill -0 ${process.pid} && echo sent`);
    return unless(!stdout.text.includes("sent"), "they arrive");
  },
  async "writing outside"({ run, outside, sandbox }) {
    const { stdout } = await run(
      `echo x > ${outside.open}/written; for f in /usr /etc / /dev; do [ -w $f ] && echo $f; done`,
    );
    const isWritten = await stat(join(outside.open, "written")).catch(() => undefined);
    const isOpen = sandbox.report.runsPrograms && stdout.text !== "";
    return unless(!isWritten && !isOpen, `it could, in ${outside.open} ${stdout.text}`);
  },

  // The network.
  async loopback({ run, outside }) {
    outside.connections();
    await run(`echo > /dev/tcp/127.0.0.1/${outside.port}; echo > /dev/tcp/localhost/${outside.port}`);
    return unless(outside.connections() === 0, "a listener on this machine was reached");
  },
  async "this machine's address"({ run, outside }) {
    outside.connections();
    if (outside.address !== undefined) await run(`echo > /dev/tcp/${outside.address}/${outside.port}`);
    return unless(outside.connections() === 0, "a listener on this machine was reached");
  },
  async "the world"({ run, sandbox }) {
    // An address that nobody has: where packets can leave, nothing comes back.
    const result = await run("(echo > /dev/tcp/192.0.2.1/80) 2>&1; echo ended", { limits: { timeoutMs: 1500 } });
    const isRefused = /unreachable|denied|not permitted|not supported/i.test(outputOf(result));
    return unless(!sandbox.report.runsPrograms || (result.end === "exited" && isRefused), "packets leave");
  },
  async "unix sockets"({ run, outside }) {
    outside.connections();
    await run(connect(JSON.stringify(outside.socket)));
    return unless(outside.connections() === 0, "one of this machine was reached");
  },
  async "abstract unix sockets"({ run, outside }) {
    outside.connections();
    await run(connect(`"\\0${outside.abstractName}"`));
    return unless(outside.connections() === 0, "one of this machine was reached");
  },

  // The kernel.
  async privileges({ run }) {
    const { stdout } = await run("grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status; id -u");
    const isNone = /CapPrm:\t0+\n/.test(stdout.text) && /CapEff:\t0+\n/.test(stdout.text);
    return unless(
      (isNone && /NoNewPrivs:\t1/.test(stdout.text) && !/^0$/m.test(stdout.text)) || !stdout.text.includes("Cap"),
      stdout.text,
    );
  },
  async "namespaces and mounts"({ run }) {
    const script = "unshare -Ur true && echo namespace; mkdir m; mount -t tmpfs x m && echo mount && umount m";
    const { stdout } = await run(script);
    return unless(stdout.text === "", stdout.text);
  },
  async "traces and the kernel's keys"({ run }) {
    const { stdout } = await run(`python3 -c '
import ctypes
libc = ctypes.CDLL(None)
if libc.ptrace(0, 0, 0, 0) == 0: print("trace")
if libc.syscall(${process.arch === "x64" ? 250 : 219}, 0, -3, 1) > 0: print("keys")'`);
    return unless(stdout.text === "", stdout.text);
  },

  // What it may use.
  async "a fork bomb"({ run }) {
    const script = "i=0; while [ $i -lt 400 ]; do sleep 1 & i=$((i+1)); echo $i; done";
    const { stdout } = await run(`sh -c '${script}'`, { limits: { processes: 64 } });
    const most = Math.max(0, ...stdout.text.split("\n").map(Number).filter(Number.isFinite));
    return unless(most < 128, `${most} processes at once`);
  },
  async "memory by many children"({ run }) {
    const one = "(head -c 60M /dev/zero; sleep 1) | tail | wc -c";
    const script = `for i in 1 2 3 4 5 6; do (${one}) & done; wait`;
    const result = await run(script, { limits: { memoryBytes: 200 * megabyte } });
    const whole = result.stdout.text.match(/62914560/g)?.length ?? 0;
    return unless(result.end === "out-of-memory" || whole < 6, "360 MB were taken where 200 are allowed");
  },
  async "a full disk by many files"({ run, workspace }) {
    const script = "i=0; while [ $i -lt 100 ]; do head -c 10M /dev/zero > f$i || break; i=$((i+1)); done; sleep 1";
    const result = await run(script, { limits: { diskBytes: 64 * megabyte } });
    const { bytes } = await measure(workspace);
    return unless(bytes < 600 * megabyte && result.end !== "timed-out", `${bytes} bytes, ${result.end}`);
  },
  async "a full disk by one file"({ run, workspace }) {
    await run("head -c 1G /dev/zero > f; sleep 0.2", { limits: { diskBytes: 64 * megabyte } });
    const { bytes } = await measure(workspace);
    return unless(bytes < 600 * megabyte, `${bytes} bytes`);
  },
  async "a full disk by files without a name"({ run }) {
    const script = `for i in 4 5 6 7 8 9; do eval "exec $i> f$i"; rm f$i; head -c 60M /dev/zero >&$i; done; sleep 2; echo all`;
    const { stdout } = await run(script, { limits: { diskBytes: 64 * megabyte } });
    return unless(!stdout.text.includes("all"), "360 MB were taken where 64 are allowed");
  },
  async "files in memory"({ run }) {
    const script =
      "for f in /dev/shm/probe.$$ /tmp/probe.$$; do head -c 400M /dev/zero > $f; stat -c %s $f; rm $f; done";
    const { stdout } = await run(script, { limits: { diskBytes: 2048 * megabyte } });
    const bytes = stdout.text.split("\n").reduce((sum, line) => sum + Number(line), 0);
    return unless(bytes <= 400 * megabyte, `${bytes} bytes`);
  },
  async "a time-out ends children that left their session"({ run, workspace }) {
    const { end } = await run(`${beating}\nsleep 30`, { limits: { timeoutMs: 500 } });
    return unless(end === "timed-out" && !(await grows(join(workspace, "beat"))), `${end}, and they live`);
  },
  async "the end of a command ends them"({ run, workspace }) {
    const { exitCode } = await run(beating);
    return unless(exitCode === 0 && !(await grows(join(workspace, "beat"))), `${exitCode}, and they live`);
  },
  async "an abort ends them"({ run, workspace }) {
    const stop = new AbortController();
    const onOutput = () => stop.abort();
    const { end } = await run(`${beating}\necho ready; sleep 30`, { signal: stop.signal, onOutput });
    return unless(end === "aborted" && !(await grows(join(workspace, "beat"))), `${end}, and they live`);
  },
  async "endless output"({ run }) {
    const { end, stdout } = await run("while :; do echo 0123456789012345678901234567890123456789; done", {
      limits: { outputBytes: megabyte },
    });
    return unless(end === "too-much-output" && stdout.text.length < megabyte, end);
  },

  // The workspace.
  async "links, pipes and devices in the workspace"({ run, workspace, outside }) {
    const make = `ln -s / root; ln -s ${outside.canary} link; mkfifo pipe; ln -s . self; mknod zero c 1 5; ln ${outside.canary} hard; echo made`;
    await run(make);
    const again = await run("echo again; cat hard zero | head -c 1000", { limits: { timeoutMs: 5000 } });
    const { bytes } = await measure(workspace);
    const isHeld =
      again.stdout.text.startsWith("again") && !outputOf(again).includes(outside.secret) && bytes < megabyte;
    return unless(isHeld && !(await isDevice(join(workspace, "zero"))), "they lead outside");
  },

  // What must work.
  async "files stay from one command to the next"({ run, workspace }) {
    await run("mkdir a && echo one > a/b && chmod 600 a/b");
    const { stdout } = await run("cat a/b");
    const seen = await readFile(join(workspace, "a", "b"), "utf8");
    return unless(stdout.text === "one\n" && seen === "one\n", stdout.text);
  },
  async "the workspace is /workspace"({ run }) {
    const { stdout } = await run("pwd; echo two > /workspace/c; cat c");
    return unless(stdout.text === "/workspace\ntwo\n", stdout.text);
  },
  async "binary output and files"({ run, workspace }) {
    const bytes = randomBytes(100_000);
    await writeFile(join(workspace, "in"), bytes, { mode: 0o644 });
    const { stdout } = await run("cat in; cp in out", {});
    const isSame = (await readFile(join(workspace, "out"))).equals(bytes);
    return unless(stdout.bytes === bytes.length && isSame, `${stdout.bytes} bytes`);
  },
  async "input, and none"({ run }) {
    const bytes = randomBytes(100_000);
    const { stdout } = await run("sha256sum", { stdin: bytes });
    const none = await run("cat; echo end");
    const sum = createHash("sha256").update(bytes).digest("hex");
    return unless(stdout.text.startsWith(sum) && none.stdout.text === "end\n", stdout.text);
  },
  async "exit codes and signals"({ run }) {
    const codes = [await run("exit 7"), await run("no-such-program"), await run("kill -TERM $$")];
    return unless(
      codes.map(({ exitCode }) => exitCode).join() === "7,127,143",
      codes.map(({ exitCode }) => exitCode).join(),
    );
  },
};

async function isDevice(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isCharacterDevice() ?? false;
}
