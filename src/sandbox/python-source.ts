import { messageOf } from "../protocol/base/errors.ts";
import { describePython, type PythonState, type PythonOptions } from "./python.ts";
import type { SandboxSource } from "./sandbox.ts";

/** The Python that commands have here, asked until it answers. */
export type PythonSource = {
  /** Never rejects: why there is none is in the state. */
  state(): Promise<PythonState>;
  /** Returns the state without waiting; undefined before it has answered. */
  known(): PythonState | undefined;
};

const longestMs = 60_000;

export function createPythonSource(
  sandbox: Pick<SandboxSource, "open">,
  wish: Omit<PythonOptions, "signal">,
): PythonSource {
  let asked: Promise<PythonState> | undefined;
  let known: PythonState | undefined;
  const ask = async (): Promise<PythonState> => {
    try {
      known = await describePython(await sandbox.open(), { ...wish, signal: AbortSignal.timeout(longestMs) });
    } catch (error) {
      known = { here: undefined, missing: [], problem: messageOf(error) };
    }
    // It may have been installed, or the machine less busy, by the next time.
    if (!known.here) asked = undefined;
    return known;
  };
  return { state: () => (asked ??= ask()), known: () => known };
}
