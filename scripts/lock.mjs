import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const beatMs = 5_000;
const deadAfterMs = 60_000;

/**
 * Holds a lock file until the returned function is called; waits while a living process holds it, and calls
 * `onWait` once then. A holder's file names its pid and is touched every 5 s, so one that died, or whose pid
 * went to somebody else, is passed over.
 */
export async function holdLock(path, onWait) {
  for (let waited = false; !take(path); waited = true) {
    if (isLeft(path)) {
      clear(path);
      continue;
    }
    if (!waited) onWait();
    await sleep(250);
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimesSync(path, now, now);
  }, beatMs);
  return () => {
    clearInterval(beat);
    rmSync(path, { force: true });
  };
}

function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function isLeft(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > deadAfterMs) return true;
    const pid = Number(readFileSync(path, "utf8"));
    // Empty: its owner is just writing it.
    return pid > 0 && !isAlive(pid);
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

/** Moved aside first: of several who find it left, one moves it, and whoever caught a new holder's file puts it back. */
function clear(path) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (!isLeft(aside)) linkSync(aside, path);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

export function isAlive(pid) {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
