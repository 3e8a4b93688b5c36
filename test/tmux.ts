import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A program in a terminal that is typed into and looked at. */
export type Terminal = {
  /** Text as it is, then keys by tmux's names (`Enter`, `C-c`). */
  readonly type: (text: string, ...keys: readonly string[]) => Promise<void>;
  /** What stands on the screen; with `all`, what has scrolled away too. */
  readonly capture: (all?: "all") => Promise<string>;
  /** The capture, as soon as it fits; throws with the last one after 30 seconds. */
  readonly until: (fits: RegExp, all?: "all") => Promise<string>;
  readonly close: () => Promise<void>;
};

export async function openTerminal(
  command: readonly string[],
  { columns = 80, rows = 24 }: { readonly columns?: number; readonly rows?: number } = {},
): Promise<Terminal> {
  const socket = `colloquy-${randomBytes(6).toString("hex")}`;
  const tmux = (...args: readonly string[]) => run("tmux", ["-L", socket, "-f", "/dev/null", ...args]);
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  // The shell stays, so that the last screen does too.
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), `${quoted}; echo "exit $?"; exec cat`);
  const capture = async (all?: "all") => {
    const { stdout } = await tmux("capture-pane", "-p", ...(all ? ["-S", "-"] : []));
    return stdout.replaceAll(/ +$/gm, "").trimEnd();
  };
  return {
    async type(text, ...keys) {
      if (text !== "") await tmux("send-keys", "-l", text);
      for (const key of keys) await tmux("send-keys", key);
    },
    capture,
    async until(fits, all) {
      let last = "";
      for (const end = Date.now() + 30_000; Date.now() < end; await sleep(50)) {
        last = await capture(all);
        if (fits.test(last)) return last;
      }
      throw new Error(`Never saw ${fits}. The screen:\n${last}`);
    },
    close: async () => void (await tmux("kill-server").catch(() => undefined)),
  };
}
