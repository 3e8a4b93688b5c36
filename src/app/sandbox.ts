import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Finding } from "../protocol/people/overview.ts";
import { engineEnvironment, plainEnvironment } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { openAllowProxy } from "../egress/allow-proxy.ts";
import type { HealthDetails } from "../http/server/services.ts";
import type { AgentRegistry } from "../protocol/agents/agents.ts";
import type { SandboxState } from "../protocol/agents/sandboxes.ts";
import { unmetDemand } from "../run/contract/required-sandbox.ts";
import { bubblewrapDriver } from "../sandbox/drivers/bubblewrap.ts";
import { createSandboxSource } from "../sandbox/choose.ts";
import { containerDriver } from "../sandbox/drivers/docker/docker.ts";
import { landlockDriver } from "../sandbox/drivers/landlock.ts";
import { type HostProxy, proxiedSource } from "../sandbox/proxied-source.ts";
import { createPythonSource, type PythonSource } from "../sandbox/python-source.ts";
import type { PythonState } from "../sandbox/python.ts";
import type { DriverSettings, SandboxDriver, SandboxLimits, SandboxSource } from "../sandbox/sandbox.ts";
import { simulatedDriver } from "../sandbox/drivers/simulated.ts";
import { createSpace, type Space, type Totals } from "../sandbox/workspace/space.ts";
import { unsafeNativeDriver } from "../sandbox/drivers/unsafe-native.ts";

export type OpenSandbox = SandboxSource & {
  readonly findings: () => Promise<readonly Finding[]>;
  readonly health: () => HealthDetails;
};

/** The sandbox of a server. With `works` it is tried at once, while the rest starts; whoever needs it waits for it. */
export function openSandbox(
  config: Config,
  { space: { space }, runsJobs }: { readonly space: { readonly space: Space }; readonly runsJobs: boolean },
): OpenSandbox {
  const sandbox = sandboxOf(config, space);
  if (runsJobs) void sandbox.state();
  return {
    ...sandbox,
    findings: async () => sandboxFindings(await sandbox.state()),
    health: () => ({ sandbox: sandbox.known() ?? "not tried yet" }),
  };
}

/** The sandbox that commands run in, as the configuration wants it; `space` is that of the workspaces. */
export function sandboxOf(config: Config, space = spaceOf(config)): SandboxSource {
  const { kind, image, network } = config.sandbox;
  const limits = sandboxLimitsOf(config.sandbox);
  const settings = { limits, hidden: privateFolders(config), image, environment: engineEnvironment() };
  const source = createSandboxSource({ kind, drivers: drivers(settings), space });
  return network.allow.length === 0 ? source : proxiedSource(source, () => openProxy(network.allow));
}

/** What workspaces may hold, and what they must leave free. */
export function spaceOf({ sandbox }: Config, totals?: Totals): Space {
  const { diskBytes, diskFiles } = sandboxLimitsOf(sandbox);
  return createSpace({
    most: { bytes: diskBytes, entries: diskFiles },
    keepFreeBytes: sandbox.keepFreeMb * 1024 ** 2,
    totals,
  });
}

/** The first that works is taken for `auto`; each is tried for real. */
function drivers(settings: DriverSettings): SandboxDriver[] {
  return [
    bubblewrapDriver(settings),
    containerDriver("docker", settings),
    containerDriver("podman", settings),
    landlockDriver(settings),
    simulatedDriver(settings),
    unsafeNativeDriver(settings),
  ];
}

async function openProxy(allow: readonly string[]): Promise<HostProxy> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-proxy-"));
  const { socket, close } = await openAllowProxy({ allow, socket: join(folder, "proxy.sock") });
  return { socket, close: () => close().finally(() => rm(folder, { recursive: true, force: true })) };
}

/** What one command may use, and one workspace hold. */
export function sandboxLimitsOf(sandbox: Config["sandbox"]): SandboxLimits {
  const bytesOf = (megabytes: number) => Math.round(megabytes * 1024 ** 2);
  return {
    memoryBytes: bytesOf(sandbox.memoryMb),
    processes: sandbox.processes,
    cpus: sandbox.cpus,
    diskBytes: bytesOf(sandbox.diskMb),
    diskFiles: sandbox.diskFiles,
    fileBytes: bytesOf(sandbox.diskMb),
    timeoutMs: sandbox.timeoutSeconds * 1000,
    outputBytes: bytesOf(sandbox.outputMb),
  };
}

/** The Python that commands find, asked at the first use. */
export function pythonSourceOf({ sandbox: { python } }: Config, sandbox: SandboxSource): PythonSource {
  return createPythonSource(sandbox, { named: python, searchPath: plainEnvironment()["PATH"] ?? "" });
}

/** For doctor. */
export function pythonFindings({ here, missing, problem }: PythonState): Finding[] {
  const about = "python";
  if (!here) return [{ grade: "note", about, text: `none for agents: ${problem ?? "not found"}` }];
  const { command, version, packages } = here;
  const install = `apt-get install ${missing.map((name) => `python3-${name}`).join(" ")}`;
  return [
    { grade: "ok", about, text: [`${command} ${version}`.trim(), ...packages].join(", ") },
    ...(missing.length === 0
      ? []
      : [{ grade: "note" as const, about, text: `missing: ${missing.join(", ")}; on Debian and Ubuntu: ${install}` }]),
  ];
}

/** One line for people: `bubblewrap (strong)`. */
export function sandboxLine({ driver, grade, tried }: SandboxState): string {
  if (driver === "unsafe-native") return `${driver}: NO SANDBOX, commands may do whatever this server's user may`;
  if (driver !== "none") return `${driver} (${grade})`;
  return tried.length === 0 ? "none: commands are refused" : `none: commands are refused; ${reasons(tried)}`;
}

/** For doctor: what commands run in, what it does not hold, and why nothing better was taken. */
export function sandboxFindings(state: SandboxState): Finding[] {
  const { driver, grade, gaps, tried } = state;
  const about = "sandbox";
  const notes = [...gaps, ...(driver === "none" || tried.length === 0 ? [] : [`not taken: ${reasons(tried)}`])];
  return [
    { grade: grade === "strong" ? "ok" : "note", about, text: sandboxLine(state) },
    ...notes.map((text): Finding => ({ grade: "note", about, text })),
  ];
}

/** The agents whose code is refused here, a sentence each. */
export function missingSandboxFeatures(agents: AgentRegistry, state: SandboxState): string[] {
  return agents.list().flatMap((agent) => unmetDemand(agent, state) ?? []);
}

function reasons(tried: SandboxState["tried"]): string {
  return tried.map(({ driver, reason }) => `${driver}: ${reason}`).join("; ");
}

/** This server's own files, which may lie where programs are looked for: /usr/src/app is usual in containers. */
function privateFolders({ data, file, agents, prompts, tools }: Config): string[] {
  const settings = file === undefined ? [] : [dirname(file)];
  return [join(import.meta.dirname, "../.."), data, ...settings, agents, prompts, tools.folder];
}
