import type { ServerAccess } from "../../src/client/request.ts";
import { steadyNow } from "../browser/steady-clock.ts";
import { createLine, type Line, type Subscription } from "./line.ts";
import type { ToHub, ToTab } from "./stream-messages.ts";

/** As many as the server takes for one connection. */
const maxSubjects = 64;
const hereMs = 3000;
/** A hidden tab's timers may be let run once in a minute. */
const silentMs = 150_000;

type Tab = {
  readonly tell: (message: ToTab) => void;
  server: ServerAccess | undefined;
  readonly followed: Map<number, { readonly line: Line; readonly subscription: Subscription }>;
  heardAt: number;
  readonly close: () => void;
};

/** Holds the event streams of all tabs that open a port to it: one connection for each login, whatever many tabs follow. */
export function createHub(): { readonly open: (port: MessagePort) => void } {
  const tabs = new Set<Tab>();
  const lines = new Map<string, Line[]>();

  setInterval(() => {
    for (const tab of tabs)
      if (Date.now() - tab.heardAt < silentMs) tab.tell({ type: "here" });
      else {
        tab.tell({ type: "dropped" });
        tab.close();
      }
  }, hereMs);

  const keyOf = ({ url, token = "" }: ServerAccess) => JSON.stringify([url, token]);
  const linesOf = (server: ServerAccess) => lines.get(keyOf(server)) ?? [];

  function openLine(server: ServerAccess): Line {
    const key = keyOf(server);
    const tellAll = (message: ToTab) => {
      for (const tab of tabs) if (tab.server && keyOf(tab.server) === key) tab.tell(message);
    };
    const line = createLine(server, {
      onConnection: (isConnected) => tellAll({ type: "connection", isConnected }),
      onUser: (user, now) => tellAll({ type: "user", user, now, at: steadyNow() }),
    });
    lines.set(key, [...linesOf(server), line]);
    return line;
  }

  function lineFor(server: ServerAccess): Line {
    return linesOf(server).find((line) => line.size() < maxSubjects) ?? openLine(server);
  }

  function hear(tab: Tab, message: ToHub): void {
    tab.heardAt = Date.now();
    switch (message.type) {
      case "open": {
        const { url, token } = message;
        tab.server = { url, token, headers: { "x-colloquy-page": "1" } };
        if (linesOf(tab.server).some((line) => line.size() > 0 && !line.isConnected()))
          tab.tell({ type: "connection", isConnected: false });
        return;
      }
      case "follow": {
        const { id, subject, cursor } = message;
        if (!tab.server) return;
        const line = lineFor(tab.server);
        const subscription: Subscription = { id, subject, cursor, tell: tab.tell };
        tab.followed.set(id, { line, subscription });
        return line.add(subscription);
      }
      case "leave": {
        const followed = tab.followed.get(message.id);
        tab.followed.delete(message.id);
        return followed?.line.remove(followed.subscription);
      }
      case "look":
        for (const line of tab.server ? linesOf(tab.server) : []) line.look();
        return;
      case "close":
        return tab.close();
      case "here":
        return;
    }
  }

  return {
    open(port) {
      const tab: Tab = {
        tell: (message) => port.postMessage(message),
        server: undefined,
        followed: new Map(),
        heardAt: Date.now(),
        close() {
          tabs.delete(tab);
          for (const { line, subscription } of tab.followed.values()) line.remove(subscription);
          tab.followed.clear();
          port.close();
        },
      };
      tabs.add(tab);
      port.onmessage = ({ data }: MessageEvent<ToHub>) => hear(tab, data);
      // Where browsers tell that the other end is gone.
      port.addEventListener("close", tab.close);
    },
  };
}
