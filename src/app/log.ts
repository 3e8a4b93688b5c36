import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import pretty from "pino-pretty";

export type LogOptions = {
  readonly level: string;
  /** Writes readable lines instead of JSON. */
  readonly pretty: boolean;
  /** Destination instead of standard error. */
  readonly file?: string;
  /** Which of several workers writes. */
  readonly of?: { readonly worker: number; readonly node: string };
};

/** Creates the log: JSON lines on standard error, readable ones on a terminal. Standard output is left to the command. */
export function createLog({ level, pretty: readable, file, of }: LogOptions): Logger {
  const stream = file
    ? destination({ dest: file, mkdir: true, sync: true })
    : readable
      ? pretty({
          destination: 2,
          sync: true,
          singleLine: true,
          translateTime: "SYS:HH:MM:ss",
          ignore: "pid,hostname,node",
        })
      : { write: (line: string) => void process.stderr.write(line) };
  const log = pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      redact: {
        paths: ["authorization", "apiKey", "*.authorization", "*.apiKey", "headers.authorization", "headers.cookie"],
        censor: "***",
      },
    },
    stream,
  );
  return of ? log.child(of) : log;
}
