import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import pretty from "pino-pretty";

export type LogOptions = {
  readonly level: string;
  /** Lines for a person instead of JSON. */
  readonly pretty: boolean;
  /** Where they go instead of standard error. */
  readonly file?: string;
};

/** JSON lines on standard error, so that standard output stays the program's own; made readable on a terminal. */
export function createLog({ level, pretty: readable, file }: LogOptions): Logger {
  const stream = file
    ? destination({ dest: file, mkdir: true, sync: true })
    : readable
      ? pretty({ destination: 2, sync: true, singleLine: true, translateTime: "SYS:HH:MM:ss", ignore: "pid,hostname" })
      : { write: (line: string) => void process.stderr.write(line) };
  return pino(
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
}
