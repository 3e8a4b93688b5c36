import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { temporaryFolder } from "./pglite.ts";

/** Where there is no Firefox, which scripts/system.mjs tells. */
export const skipFirefox = process.env["COLLOQUY_TEST_FIREFOX"] === "no" && "there is no Firefox";

export type FirefoxTab = {
  /** Of what the expression, maybe a promise, is in the page. */
  readonly evaluate: <Value>(expression: string) => Promise<Value>;
  /** Waits until the expression holds, at most twenty seconds. */
  readonly until: (expression: string) => Promise<void>;
  /** As fingers do, where the focus is. */
  readonly type: (text: string) => Promise<void>;
  /** The last one while the others are held. */
  readonly press: (...keys: readonly string[]) => Promise<void>;
  readonly reload: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type OpenFirefox = {
  readonly open: (url: string) => Promise<FirefoxTab>;
  /** Warnings and errors in the consoles of all tabs. */
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
};

const keys: Readonly<Record<string, string>> = { Enter: "\uE007", Control: "\uE009", Escape: "\uE00C" };

/** What a new Firefox would ask of its makers' hosts. */
const quiet = [
  ...["app.update.enabled", "browser.safebrowsing.malware.enabled", "browser.safebrowsing.phishing.enabled"],
  ...[
    "datareporting.policy.dataSubmissionEnabled",
    "extensions.update.enabled",
    "network.captive-portal-service.enabled",
  ],
  ...["network.connectivity-service.enabled", "app.normandy.enabled"],
];

/** Debian's Firefox without a window, driven by WebDriver BiDi over its own socket: no driver stands between. */
export async function openFirefox(): Promise<OpenFirefox> {
  const profile = temporaryFolder("firefox");
  writeFileSync(join(profile, "user.js"), quiet.map((name) => `user_pref("${name}", false);\n`).join(""));
  const firefox = spawn("firefox-esr", ["--headless", "--profile", profile, "--remote-debugging-port", "0"], {
    env: { ...process.env, HOME: profile },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(firefox, "exit");
  const address = await addressOf(firefox.stderr);
  const complaints: string[] = [];
  const { send, close } = await connect(`${address}/session`, ({ method, params }) => {
    if (method === "log.entryAdded" && params.level !== "info" && params.level !== "debug")
      complaints.push(params.text);
  });
  await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  return {
    async open(url) {
      const { context } = await send<{ context: string }>("browsingContext.create", { type: "tab" });
      await send("browsingContext.navigate", { context, url, wait: "complete" });
      return tabOf(send, context);
    },
    complaints,
    async close() {
      close();
      firefox.kill();
      await ended;
    },
  };
}

type Send = <Result>(method: string, params: object) => Promise<Result>;

function tabOf(send: Send, context: string): FirefoxTab {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const told = await send<{ result?: { value?: string }; exceptionDetails?: { text: string } }>("script.evaluate", {
      expression: `(async () => JSON.stringify(await (${expression})) ?? "null")()`,
      target: { context },
      awaitPromise: true,
    });
    if (told.result?.value === undefined) throw new Error(told.exceptionDetails?.text ?? "nothing was told");
    return JSON.parse(told.result.value) as Value;
  };
  const strike = (actions: readonly { readonly type: "keyDown" | "keyUp"; readonly value: string }[]) =>
    send<void>("input.performActions", { context, actions: [{ type: "key", id: "keyboard", actions }] });
  const down = (value: string) => ({ type: "keyDown", value }) as const;
  const up = (value: string) => ({ type: "keyUp", value }) as const;
  return {
    evaluate,
    async until(expression) {
      const end = performance.now() + 20_000;
      while (!(await evaluate<boolean>(`Boolean(${expression})`)))
        if (performance.now() > end) throw new Error(`Waited in vain for ${expression}.`);
        else await new Promise((resolve) => setTimeout(resolve, 20));
    },
    type: (text) => strike([...text].flatMap((letter) => [down(letter), up(letter)])),
    press(...names) {
      const values = names.map((name) => keys[name] ?? name);
      return strike([...values.map(down), ...values.toReversed().map(up)]);
    },
    close: () => send<void>("browsingContext.close", { context }),
    reload: () => send<void>("browsingContext.reload", { context, wait: "complete" }),
  };
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  const said: string[] = [];
  for await (const line of createInterface(output)) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
    if (address !== undefined) {
      output.resume();
      return address;
    }
    said.push(line);
  }
  throw new Error(`Firefox did not start: ${said.join("\n")}`);
}

type Told = { readonly method?: string; readonly params: { readonly level: string; readonly text: string } };
type Answer = { readonly id?: number; readonly result?: unknown; readonly error?: string; readonly message?: string };

async function connect(url: string, onEvent: (event: Told) => void): Promise<{ send: Send; close: () => void }> {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map<number, (answer: Answer) => void>();
  let count = 0;
  socket.addEventListener("message", ({ data }) => {
    const told = JSON.parse(String(data)) as Answer & Told;
    if (told.id === undefined) onEvent(told);
    else waiting.get(told.id)?.(told);
  });
  return {
    send: (method, params) =>
      new Promise((resolve, reject) => {
        const id = ++count;
        waiting.set(id, ({ result, error, message }) => {
          waiting.delete(id);
          if (error === undefined) resolve(result as never);
          else reject(new Error(`${method}: ${error}: ${message}`));
        });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}
