/** The exit code of a command that ended early because nobody read on: as of a program that SIGPIPE ended. */
export const brokenPipe = 141;

const reader = new AbortController();

/** Fires when whoever read standard output has gone. */
export const outputClosed: AbortSignal = reader.signal;

/**
 * Lets a command go on when whoever reads it leaves early, as in `colloquy runs | head -1`: what it says then is lost. One
 * that would go on for long looks at `outputClosed`.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (stream === process.stdout) reader.abort();
    });
}

/** The same for a server, which also a full disk behind its output must not end. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** Says something on standard output that must be read; false if nobody does. */
export function writeOutput(text: string): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(`${text}\n`, (error) => resolve(!error)));
}
