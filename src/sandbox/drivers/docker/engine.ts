import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SandboxDriver } from "../../sandbox.ts";
import { SandboxUnusable } from "../../sandbox.ts";

/** A program that makes containers; both take the same words for all that is needed here. */
export type ContainerEngine = {
  readonly name: Extract<SandboxDriver["name"], "docker" | "podman">;
  /** Environment for it: where its daemon and its settings are. */
  readonly environment: Readonly<Record<string, string>>;
};

const answersWithinMs = 20_000;

/** Runs one of the engine's short commands; throws with what it wrote on standard error. */
export async function askEngine({ name, environment }: ContainerEngine, args: readonly string[], signal?: AbortSignal) {
  const options = { env: environment, timeout: answersWithinMs, maxBuffer: 1024 ** 2, signal };
  const { stdout } = await promisify(execFile)(name, args, options);
  return stdout.trim();
}

/** Throws SandboxUnusable with what is to be done where the engine does not answer or the image is not there. */
export async function ensureImage(engine: ContainerEngine, image: string, signal: AbortSignal): Promise<void> {
  const { name } = engine;
  try {
    await askEngine(engine, ["version"], signal);
  } catch (cause) {
    signal.throwIfAborted();
    const reason = isMissing(cause) ? `${name} is not installed` : `${name} does not answer: ${firstLine(cause)}`;
    throw new SandboxUnusable(reason, { cause });
  }
  try {
    await askEngine(engine, ["image", "inspect", image], signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new SandboxUnusable(`the image ${image} is not here; to get it: ${name} pull ${image}`, { cause });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function firstLine(error: unknown): string {
  const told =
    error instanceof Error && "stderr" in error && typeof error.stderr === "string" ? error.stderr.trim() : "";
  return told.split("\n")[0] || "no answer in time";
}
