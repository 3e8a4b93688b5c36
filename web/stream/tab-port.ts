import { server } from "../page/server.ts";
import type { ToHub, ToTab } from "./stream-messages.ts";

/** The way to whoever holds the streams. */
export type TabPort = {
  readonly tell: (message: ToHub) => void;
  readonly close: () => void;
};

/** So many workers are tried before this tab holds its streams itself. */
const maxTries = 2;
let tries = 0;

/**
 * A worker that all tabs of this browser share. Where there is none (Chrome on Android, some private windows), where it can't be
 * loaded, or falls silent again and again, this tab has a hub of its own, with one connection for all that it follows.
 */
export function openPort(hear: (message: ToTab) => void, failed: () => void): TabPort {
  const shared = typeof SharedWorker === "function" && tries < maxTries ? openShared(failed) : undefined;
  const port = shared?.port ?? openOwn();
  port.onmessage = ({ data }: MessageEvent<ToTab>) => hear(data);
  const tell = (message: ToHub) => port.postMessage(message);
  tell({ type: "open", url: server.url, token: server.token });
  return {
    tell,
    close() {
      port.onmessage = null;
      if (shared) shared.onerror = null;
      tell({ type: "close" });
      port.close();
    },
  };
}

function openShared(failed: () => void): SharedWorker | undefined {
  tries++;
  try {
    const worker = new SharedWorker(new URL("./stream-worker.ts", import.meta.url), {
      type: "module",
      name: "streams",
    });
    worker.onerror = () => {
      tries = maxTries;
      failed();
    };
    return worker;
  } catch {
    tries = maxTries;
    return undefined;
  }
}

/** It has answered: if it dies one day, another one is tried. */
export function portWorks(): void {
  if (tries < maxTries) tries = 0;
}

function openOwn(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  void import("./hub.ts").then(({ createHub }) => createHub().open(port2));
  return port1;
}
