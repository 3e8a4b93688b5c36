import { parseArgs } from "node:util";
import { doctor } from "./cli-doctor.ts";
import { runPrompt } from "./cli-run.ts";
import { serve } from "./cli-serve.ts";
import { user } from "./cli-user.ts";
import { version } from "./main.ts";
import { ColloquyError, InvalidInput, messageOf } from "./protocol/errors.ts";

const help = `Colloquy: a self-hosted agent server.

  colloquy serve                 start the server (the same as npm start)
  colloquy run "<message>"       ask an agent; its answer is streamed here
      --agent <id>               which agent (default: assistant)
      --thread <id>              go on with a thread
      --json                     every event as a line of JSON
  colloquy doctor                check configuration, database and models
  colloquy user add <name>       make an account and print its API key   [--admin]
  colloquy user list             list the accounts

  --help, --version

Configuration: colloquy.yaml here, or the file named by COLLOQUY_CONFIG; colloquy.example.yaml explains every key.
A command that finds the server running talks to it; otherwise it opens the data directory itself.`;

type Flags = { agent?: string; thread?: string; json?: boolean; admin?: boolean; help?: boolean; version?: boolean };

async function main(argv: readonly string[]): Promise<number> {
  const { flags, positionals } = parse(argv);
  const [command, ...rest] = positionals;
  if (flags.version) return say(version);
  if (flags.help || command === undefined || command === "help") return say(help);
  switch (command) {
    case "serve":
      return serve();
    case "run":
      return runPrompt({
        message: rest.join(" "),
        agent: flags.agent ?? "assistant",
        json: flags.json ?? false,
        ...(flags.thread === undefined ? {} : { thread: flags.thread }),
      });
    case "doctor":
      return doctor();
    case "user":
      return user(rest, { admin: flags.admin ?? false });
    default:
      throw new InvalidInput(`There is no command "${command}". \`colloquy --help\` lists them.`);
  }
}

function parse(argv: readonly string[]): { flags: Flags; positionals: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        agent: { type: "string" },
        thread: { type: "string" },
        json: { type: "boolean" },
        admin: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
    return { flags: values, positionals };
  } catch (error) {
    throw new InvalidInput(`${messageOf(error)}. \`colloquy --help\` shows how it goes.`, { cause: error });
  }
}

function say(text: string): number {
  console.log(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // A failure a person can mend is told in its own words; anything else is a fault of ours and needs its stack.
  console.error(error instanceof ColloquyError ? `colloquy: ${error.message}` : error);
  process.exitCode = 1;
}
