import type { FileChange } from "../protocol/threads/files.ts";
import type { SandboxGrade, SandboxKind, SandboxState } from "../protocol/agents/sandboxes.ts";

/** Limits of all processes of one command together, and of one workspace. */
export type SandboxLimits = {
  readonly memoryBytes: number;
  readonly processes: number;
  /** Cores; 0.5 is half of one. */
  readonly cpus: number;
  /** Bytes of all files in the workspace. */
  readonly diskBytes: number;
  /** Files and folders in the workspace. */
  readonly diskFiles: number;
  /** Bytes of one file, wherever it is; enforced by the kernel if the driver can set it. */
  readonly fileBytes: number;
  readonly timeoutMs: number;
  /** Bytes of both output streams together; a command that writes more is killed. */
  readonly outputBytes: number;
};

export const defaultSandboxLimits: SandboxLimits = {
  memoryBytes: 1024 ** 3,
  processes: 128,
  cpus: 1,
  diskBytes: 256 * 1024 ** 2,
  diskFiles: 50_000,
  fileBytes: 256 * 1024 ** 2,
  timeoutMs: 30_000,
  outputBytes: 64 * 1024 ** 2,
};

/** A file or folder of this machine that a command may read under another path. */
export type Mount = { readonly source: string; readonly target: string };

export type SandboxCommand = {
  /** A program of the sandbox and its arguments: `["bash", "-c", "ls"]`. */
  readonly argv: readonly string[];
  /** An absolute folder on this machine: `/workspace` in the sandbox, writable, where the command starts. */
  readonly workspace: string;
  /** Beside PATH, HOME and LANG; nothing of the server's environment is there. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: end of file at once. */
  readonly stdin?: string | Uint8Array;
  readonly limits?: Partial<SandboxLimits>;
  /** Read-only. */
  readonly mounts?: readonly Mount[];
  /** The one address outside that it may reach: this unix socket, as `127.0.0.1:<port>` in the sandbox. */
  readonly relay?: { readonly socket: string; readonly port: number };
  readonly signal: AbortSignal;
  /** Called with text as it comes; must not wait. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
  /** Called once it runs, with how to find all its processes on this machine, as far as they can be seen. */
  readonly onStarted?: (pids: () => Promise<readonly number[]>) => void;
};

/** The beginning and the end of what a command wrote; the middle of much is left out. */
export type CapturedText = { readonly text: string; readonly bytes: number; readonly omittedBytes: number };

export type SandboxResult = {
  /** Why it ended. `exited` may be with any code. A signal that it got from within is `exited` too, with 128 + its number. */
  readonly end: "exited" | "timed-out" | "aborted" | "too-much-output" | "out-of-memory" | "disk-full";
  /** Undefined when it was killed. */
  readonly exitCode: number | undefined;
  readonly stdout: CapturedText;
  readonly stderr: CapturedText;
  readonly durationMs: number;
  /** For `disk-full`: why there is no room, and what was lost. */
  readonly full?: { readonly words: string; readonly lost: readonly FileChange[] } | undefined;
};

/** Result of the self-test at the start. */
export type SandboxReport = {
  readonly driver: SandboxDriver["name"];
  readonly grade: SandboxGrade;
  /** One sentence for each thing that it does not hold: for `doctor`, the start's lines and refusals. */
  readonly gaps: readonly string[];
  /** Whether real programs of this machine or image run: Python, node. */
  readonly runsPrograms: boolean;
  /** Whether mounts and a relay work. */
  readonly mounts: boolean;
  readonly relay: boolean;
};

/**
 * Runs commands that nobody has read. When `run` resolves, no process of the command is left. A command that fails is a
 * result; `run` rejects (SandboxFailed) only when the sandbox itself can't work.
 */
export interface Sandbox {
  readonly report: SandboxReport;
  run(command: SandboxCommand): Promise<SandboxResult>;
  /** A workspace is about to be deleted, or the server stops: ends what the driver keeps for it. */
  release(workspace: string): Promise<void>;
  close(): Promise<void>;
}

/** One way to make a sandbox. `open` tries it for real and throws SandboxUnusable, with the reason, where it can't work. */
export interface SandboxDriver {
  readonly name: Exclude<SandboxKind, "auto" | "none">;
  open(signal: AbortSignal): Promise<Sandbox>;
}

/** The sandbox of a server, which is chosen and tried while the rest starts, or at its first use. */
export type SandboxSource = {
  /** Throws SandboxUnusable, with all that was tried, where there is none. */
  open(): Promise<Sandbox>;
  /** Waits for the choice; its driver is `none` where there is none. */
  state(): Promise<SandboxState>;
  /** Returns the state without waiting; undefined before the choice. */
  known(): SandboxState | undefined;
  /** As `Sandbox.release`; nothing is kept before the choice. */
  release(workspace: string): Promise<void>;
  close(): Promise<void>;
};

/** Settings passed to every driver; each uses those it needs. */
export type DriverSettings = {
  /** Limits of commands that set none of their own. */
  readonly limits?: Partial<SandboxLimits>;
  /** Folders of this machine that no command may see, wherever they lie: the server's data, its settings, itself. */
  readonly hidden?: readonly string[];
  /** Container image. */
  readonly image?: string;
  /** Environment for the container engine: where its daemon and its settings are. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** Where a command sees its workspace, whatever the driver. */
export const workspaceTarget = "/workspace";

export class SandboxUnusable extends Error {
  override readonly name = "SandboxUnusable";
}

export class SandboxFailed extends Error {
  override readonly name = "SandboxFailed";
}
