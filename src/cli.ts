import { parseArgs } from "node:util";
import { commandsIn, helpFor } from "./cli/help.ts";
import { ignoreOutputErrors, ignoreClosedOutput } from "./cli/closed-pipe.ts";
import { ColloquyError, InvalidInput, messageOf } from "./protocol/base/errors.ts";
import { similarNames } from "./protocol/base/similar-names.ts";
import { version } from "./protocol/base/version.ts";

const help = `Colloquy: a self-hosted agent server.

  ./colloquy serve                 start the server (same as npm start); Ctrl+C stops it
                                   (settings: colloquy.yaml, or COLLOQUY_PORT, COLLOQUY_HOST, COLLOQUY_DATA, DATABASE_URL and
                                   more; docs/configuration.md lists every key)
      --port <number>              port to listen on (default: 8000)
      --host <address>             address to listen on (default: 127.0.0.1)
      --workers <number>           server processes behind one port, to use several cores (PostgreSQL only; default: 1)
  ./colloquy chat [room | agent]   chat in the terminal (default: assistant)
      --thread <id>                continue a conversation
      --plain                      plain lines instead of a full screen, as in a pipe
      --json                       print events as JSON lines
  ./colloquy run "<message>"       send a message to an agent and stream its answer
      --agent <id>                 agent to use (default: assistant)
      --thread <id>                continue a thread
      --json                       print events as JSON lines
      --on-outage wait|fail        if the model is unavailable: wait, or fail (default)
  ./colloquy runs                  list active runs and their open questions
      --all                        include runs that have ended, newest first, and how to continue them
      --status <status>            only queued, running, waiting, done, failed or cancelled runs
      --limit <number>             maximum number of runs (default: 20)
  ./colloquy answer <question> <decision>   answer a run's question and follow the run
                                   (allow, deny; continue, stop; done, failed, retry; model)
      --text <text>                reason, answer, or name of another model
      --arguments <json>           allow with these arguments instead
      --always                     allow, and don't ask again for this call
  ./colloquy resume <run>          continue a failed or stopped run where it ended, and follow it
      --json                       print events as JSON lines
      --on-outage wait|fail        same as for \`run\`
  ./colloquy fork <run> <step>     start a new run with a run's steps up to this one, and follow it
      --model <model>              use another model from there on
      --text <text>                replace the message that started it
      --json                       print events as JSON lines
  ./colloquy open                  create a one-time link that lets a browser on this machine manage the server
  ./colloquy doctor                check configuration, database and models   [--all] [--json]
  ./colloquy export <folder>       write all rows and files to a folder (with PGlite, stop the server first)
  ./colloquy import <folder>       load an export into an empty database and data directory
  ./colloquy user add <name>       create an account and print its API key   [--admin]
      --scopes <scopes>            what the key may do (default: * for everything the account may do)
      --days <number>              days until it expires (default: 90), or never
  ./colloquy user list             list accounts
  ./colloquy user reset <name>     create a link to set a new password   [--stdin: read the password from standard input]
  ./colloquy user disable <name>   block an account and its keys; \`enable\` undoes it
  ./colloquy user keys <name>      list its API keys   [--add <label> --scopes <scopes> [--days <number>]: create a key]
  ./colloquy user revoke <key>     revoke an API key, by the id that \`keys\` shows
  ./colloquy user erase <name>     permanently delete an account and all its data   [--confirm <name>]
  ./colloquy rag list [<collection>]   list collections, or the documents of one   [--json]
  ./colloquy rag add <collection> <place>…   add files, folders and web addresses, and wait until they are indexed
      --model <model>              embedding model of a new collection (none, http:…, onnx:…, gguf:…)
  ./colloquy rag remove <collection> [<document>…]   delete documents, or the whole collection
  ./colloquy rag reindex <collection>   re-index its documents   [--model <model>] [--chunk-size <tokens>]
  ./colloquy rag export <collection> <folder>   write a collection to a folder
  ./colloquy rag import <folder>   create a collection from an export   [--name <name>]
  ./colloquy rag query <collection> "<question>"   test a query: passages, and how each was found   [--json]
      --retrieval <way>            lexical, vector or hybrid (default: the collection's)
      --limit <number>             maximum number of passages (default: 8)
  ./colloquy rag eval [<folder>]   measure retrieval quality (default: a small built-in set)   [--json]
      --collection <name>          use a collection that already has the documents
  ./colloquy mcp                   run as an MCP server over standard input and output
  ./colloquy tools serve           serve this machine's tools, for servers that name it as TOOLS_HOST
      --port <port>                port to listen on (default: 10006)
      --host <address>             address to listen on (default: 127.0.0.1; others need TOOLS_TOKEN)
  ./colloquy tools todo            serve only the task tools, as an MCP server at /mcp
      --port <port>                port to listen on (default: 8001)
      --user <name>                whose tasks to use
      --database <url>             PostgreSQL server to use instead of the configured database

  --help, --version

Configuration: colloquy.yaml here, or the file named by COLLOQUY_CONFIG; colloquy.example.yaml explains every key.
If the server is running, commands talk to it; otherwise they open the data directory themselves.`;

type Flags = ReturnType<typeof readFlags>["values"];

/** npm keeps what stands before `--` for itself, and passes on a number without its flag. */
function unknownOfServe(word: string): string {
  const meant = /^\d+$/.test(word) ? ` Did you mean --workers ${word} (npm start -- --workers ${word})?` : "";
  return `\`serve\` takes no argument ${JSON.stringify(word)}.${meant}`;
}

/** Each command is loaded when it is asked for: a server is 1,500 modules, a command that asks one 220. */
async function main(argv: readonly string[]): Promise<number> {
  const { flags, positionals } = parse(argv);
  const [command, ...rest] = positionals;
  if (command === "serve" || command === "tools") ignoreOutputErrors();
  else ignoreClosedOutput();
  if (flags.version) return say(version);
  if (command === "help") return say(helpFor(help, rest));
  if (flags.help || command === undefined) return say(helpFor(help, positionals));
  switch (command) {
    case "serve":
      if (rest.length > 0) throw new InvalidInput(unknownOfServe(rest[0]!));
      return (await import("./cli/workers.ts")).serve(flags);
    case "run":
      return (await import("./cli/run.ts")).runPrompt({
        message: rest.join(" "),
        agent: flags.agent ?? "assistant",
        json: flags.json ?? false,
        onOutage: onOutageIn(flags["on-outage"]),
        ...(flags.thread === undefined ? {} : { thread: flags.thread }),
      });
    case "chat":
      return (await import("./cli/chat.ts")).chat({
        plain: flags.plain ?? false,
        json: flags.json ?? false,
        ...(rest[0] === undefined ? {} : { name: rest[0] }),
        ...(flags.thread === undefined ? {} : { thread: flags.thread }),
      });
    case "runs":
      return (await import("./cli/runs.ts")).listRuns({
        all: flags.all ?? false,
        ...(flags.status === undefined ? {} : { status: flags.status }),
        ...(flags.limit === undefined ? {} : { limit: flags.limit }),
      });
    case "answer":
      return (await import("./cli/runs.ts")).answer(rest, {
        always: flags.always ?? false,
        json: flags.json ?? false,
        ...(flags.text === undefined ? {} : { text: flags.text }),
        ...(flags.arguments === undefined ? {} : { arguments: flags.arguments }),
      });
    case "resume":
      return (await import("./cli/runs.ts")).resume(rest[0], {
        json: flags.json ?? false,
        onOutage: onOutageIn(flags["on-outage"]),
      });
    case "fork":
      return (await import("./cli/runs.ts")).fork(rest, {
        json: flags.json ?? false,
        ...(flags.model === undefined ? {} : { model: flags.model }),
        ...(flags.text === undefined ? {} : { input: flags.text }),
      });
    case "open":
      return (await import("./cli/open.ts")).openPage();
    case "doctor":
      return (await import("./cli/doctor.ts")).doctor({ json: flags.json ?? false, all: flags.all ?? false });
    case "export":
      return (await import("./cli/export-import.ts")).exportTo(rest[0]);
    case "import":
      return (await import("./cli/export-import.ts")).importFrom(rest[0]);
    case "mcp":
      return (await import("./cli/mcp.ts")).serveMcp();
    case "tools":
      return (await import("./cli/tools.ts")).serveTools(rest, {
        ...(flags.port === undefined ? {} : { port: flags.port }),
        ...(flags.host === undefined ? {} : { host: flags.host }),
        ...(flags.user === undefined ? {} : { user: flags.user }),
        ...(flags.database === undefined ? {} : { database: flags.database }),
      });
    case "user":
      return (await import("./cli/user.ts")).user(rest, {
        admin: flags.admin ?? false,
        stdin: flags.stdin ?? false,
        ...(flags.add === undefined ? {} : { add: flags.add }),
        ...(flags.scopes === undefined ? {} : { scopes: flags.scopes }),
        ...(flags.days === undefined ? {} : { days: flags.days }),
        ...(flags.confirm === undefined ? {} : { confirm: flags.confirm }),
      });
    case "rag":
      return (await import("./cli/rag/rag.ts")).rag(rest, {
        json: flags.json ?? false,
        model: flags.model,
        chunkSize: flags["chunk-size"],
        name: flags.name,
        collection: flags.collection,
        retrieval: flags.retrieval,
        limit: flags.limit,
      });
    default:
      throw new InvalidInput(
        `Unknown command "${command}".${didYouMean(command, commandsIn(help))} Run \`./colloquy --help\` for a list.`,
      );
  }
}

function parse(argv: readonly string[]): { flags: Flags; positionals: readonly string[] } {
  try {
    const { values, positionals } = readFlags(argv);
    return { flags: values, positionals };
  } catch (error) {
    throw new InvalidInput(`${flagProblem(messageOf(error))} Run \`./colloquy --help\` for usage.`, { cause: error });
  }
}

/** Node.js says behind an unknown option how to pass it as a word, which is hardly ever meant. */
function flagProblem(message: string): string {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? [];
  if (unknown === undefined) return `${message}.`;
  return `Unknown option --${unknown}.${didYouMean(unknown, Object.keys(options), "--")}`;
}

function didYouMean(word: string, known: readonly string[], mark = ""): string {
  const [nearest] = similarNames(word, known);
  return nearest === undefined ? "" : ` Did you mean ${mark}${nearest}?`;
}

function onOutageIn(text: string | undefined): "wait" | "fail" | undefined {
  if (text === undefined || text === "wait" || text === "fail") return text;
  throw new InvalidInput("--on-outage must be wait or fail.");
}

const options = {
  agent: { type: "string" },
  thread: { type: "string" },
  json: { type: "boolean" },
  plain: { type: "boolean" },
  "on-outage": { type: "string" },
  text: { type: "string" },
  arguments: { type: "string" },
  always: { type: "boolean" },
  all: { type: "boolean" },
  status: { type: "string" },
  admin: { type: "boolean" },
  add: { type: "string" },
  scopes: { type: "string" },
  days: { type: "string" },
  confirm: { type: "string" },
  stdin: { type: "boolean" },
  model: { type: "string" },
  "chunk-size": { type: "string" },
  name: { type: "string" },
  collection: { type: "string" },
  retrieval: { type: "string" },
  limit: { type: "string" },
  port: { type: "string" },
  host: { type: "string" },
  user: { type: "string" },
  database: { type: "string" },
  workers: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

function readFlags(argv: readonly string[]) {
  return parseArgs({ args: [...argv], allowPositionals: true, options });
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
