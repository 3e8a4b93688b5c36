import { spawn } from "node:child_process";
import { constants } from "node:os";

/** A failure a person can mend: printed without a stack. */
export class Problem extends Error {}

/**
 * Runs a program to its end and hands on the signals that this process gets meanwhile.
 * `quiet` keeps its output back and returns it. Throws Problem if the program can't be started.
 * `signal` is the one that ended it, or that came here meanwhile. A program ended by a signal counts as 128 + the signal's number, as in a shell.
 */
export function runChild(command, args, { cwd, env = process.env, quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit" });
    let output = "";
    const keep = (chunk) => (output = (output + chunk).slice(-64 * 1024));
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);

    // Some programs (npm) end by themselves then, as if they had failed.
    let received;
    const forward = (signal) => {
      received = signal;
      // A terminal sends Ctrl-C to the whole process group: sent on, the child would get it twice.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    process.on("SIGINT", forward).on("SIGTERM", forward).on("SIGHUP", forward);
    const stopForwarding = () => process.off("SIGINT", forward).off("SIGTERM", forward).off("SIGHUP", forward);

    child.on("error", (cause) => {
      stopForwarding();
      reject(new Problem(`${command} can't be started: ${cause.message}`, { cause }));
    });
    child.on("close", (code, signal) => {
      stopForwarding();
      resolve({ code: code ?? 128 + (constants.signals[signal] ?? 0), signal: signal ?? received, output });
    });
  });
}

/** A program that a signal ended, in a sentence. */
export function endedBy(signal, what) {
  if (signal !== "SIGKILL") return `${what} was stopped by ${signal}; the next start does it again`;
  return `${what} was killed (SIGKILL), as Linux does when memory runs out: close other programs, or give the machine or container more`;
}
