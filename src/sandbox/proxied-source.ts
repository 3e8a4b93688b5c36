import type { Sandbox, SandboxSource } from "./sandbox.ts";

/** Listens on a unix socket and decides which hosts commands reach. */
export type HostProxy = { readonly socket: string; readonly close: () => Promise<void> };

const port = 3128;
const address = `http://127.0.0.1:${port}`;
/** Programs differ in which of these names they read. */
const variables = {
  ...{ HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: "localhost,127.0.0.1" },
  ...{ http_proxy: address, https_proxy: address, no_proxy: "localhost,127.0.0.1" },
};

/** Wraps a sandbox so that its commands use the proxy, unless a command already has another address to reach. */
export function proxiedSource(source: SandboxSource, openProxy: () => Promise<HostProxy>): SandboxSource {
  let proxy: Promise<HostProxy> | undefined;
  const open = async () => {
    const sandbox = await source.open();
    if (!sandbox.report.relay) return sandbox;
    const { socket } = await (proxy ??= openProxy());
    return withProxy(sandbox, socket);
  };
  return {
    ...source,
    open,
    async state() {
      const state = await source.state();
      const sandbox = await source.open().catch(() => undefined);
      if (sandbox?.report.relay !== false) return state;
      return { ...state, gaps: [...state.gaps, "sandbox.network.allow has no effect: commands can't reach its proxy"] };
    },
    async close() {
      await source.close();
      await (await proxy)?.close();
    },
  };
}

function withProxy(sandbox: Sandbox, socket: string): Sandbox {
  return {
    report: sandbox.report,
    run: (command) =>
      sandbox.run(
        command.relay ? command : { ...command, relay: { socket, port }, env: { ...variables, ...command.env } },
      ),
    release: (workspace) => sandbox.release(workspace),
    close: () => sandbox.close(),
  };
}
