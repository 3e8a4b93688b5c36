import { parseArgs } from "node:util";
import { helpFor } from "./cli/help.ts";
import { outliveOutput, outliveReader } from "./cli/closed-pipe.ts";
import { ColloquyError, InvalidInput, messageOf } from "./protocol/base/errors.ts";
import { version } from "./protocol/base/version.ts";

const help = `Colloquy: a self-hosted agent server.

  colloquy serve                 start the server (the same as npm start); Ctrl+C stops it
                                 (no options: colloquy.yaml, or COLLOQUY_PORT, COLLOQUY_HOST, COLLOQUY_DATA, DATABASE_URL and
                                 more; docs/configuration.md lists every key)
  colloquy chat [room | agent]   talk, here in the terminal (default: assistant)
      --thread <id>              go on with a conversation
      --plain                    lines instead of a screen, as into a pipe
      --json                     what happens, as lines of JSON
  colloquy run "<message>"       ask an agent; its answer is streamed here
      --agent <id>               which agent (default: assistant)
      --thread <id>              go on with a thread
      --json                     every event as a line of JSON
      --on-outage wait|fail      what an outage of the model is: a wait, or the end (the usual)
  colloquy runs                  list the runs that are at work, and what waits for a person
      --all                      those that have ended too, the newest first, and how to go on with them
      --status <status>          only those: queued, running, waiting, done, failed or cancelled
      --limit <number>           of these the newest so many (default: 20)
  colloquy answer <question> <decision>   answer what a run waits for, and follow it
                                 (allow, deny; continue, stop; done, failed, retry; model)
      --text <text>              the reason, what is known, or the name of another model
      --arguments <json>         allow, but with these arguments
      --always                   allow, and don't ask again for this call
  colloquy resume <run>          go on with a run that failed or was stopped, where it was, and follow it
      --json                     every event as a line of JSON
      --on-outage wait|fail      as of \`run\`
  colloquy fork <run> <step>     begin anew beside a run, with its steps up to this one, and follow it
      --model <model>            another model from there on
      --text <text>              instead of the message that began it
      --json                     every event as a line of JSON
  colloquy open                  a link that lets a browser of this machine manage the server, once
  colloquy doctor                check configuration, database and models   [--json]
  colloquy export <folder>       write all rows and files into a folder (with PGlite, stop the server first)
  colloquy import <folder>       bring an export into an empty database and data directory
  colloquy user add <name>       make an account and print its API key   [--admin]
      --scopes <scopes>          all that the key may (default: * for all that the account may)
      --days <number>            when it ends (default: 90); never: it does not
  colloquy user list             list the accounts
  colloquy user reset <name>     a link to set a new password   [--stdin: it is read from here instead]
  colloquy user disable <name>   nobody comes in with its keys any more; \`enable\` undoes it
  colloquy user keys <name>      list its API keys   [--add <label> --scopes <scopes> [--days <number>]: make another one]
  colloquy user revoke <key>     end an API key, by the id that \`keys\` shows
  colloquy user erase <name>     remove a person with all that is theirs   [--confirm <name>: there is no way back]
  colloquy rag list [<collection>]   collections of documents, or the documents of one   [--json]
  colloquy rag add <collection> <place>…   add files, folders and addresses, and wait until they are read
      --model <model>            of a new collection: its embedding model (none, http:…, onnx:…, gguf:…)
  colloquy rag remove <collection> [<document>…]   remove documents, or all of it
  colloquy rag reindex <collection>   read its documents anew   [--model <model>] [--chunk-size <tokens>]
  colloquy rag export <collection> <folder>   everything of a collection as one folder
  colloquy rag import <folder>   make a collection of that   [--name <name>]
  colloquy rag query <collection> "<question>"   try a question: passages, and how each was found   [--json]
      --retrieval <way>          lexical, vector or hybrid instead of the collection's own
      --limit <number>           passages at most (default: 8)
  colloquy rag eval [<folder>]   how well questions find what they should (default: a small set that comes with it)   [--json]
      --collection <name>        one that has the documents already
  colloquy mcp                   Colloquy as an MCP server over standard input and output
  colloquy tools serve           the tools of this machine, for servers that name it as TOOLS_HOST
      --port <port>              where it listens (default: 10006)
      --host <address>           another one than 127.0.0.1 needs TOOLS_TOKEN
  colloquy tools todo            the task tools alone, as an MCP server at /mcp
      --port <port>              where it listens (default: 8001)
      --user <name>              whose tasks they are
      --database <url>           a PostgreSQL server instead of the configuration's database

  --help, --version

Configuration: colloquy.yaml here, or the file named by COLLOQUY_CONFIG; colloquy.example.yaml explains every key.
A command that finds the server running talks to it; otherwise it opens the data directory itself.`;

type Flags = ReturnType<typeof readFlags>["values"];

/** Each command is loaded when it is asked for: a server is 1,500 modules, a command that asks one 220. */
async function main(argv: readonly string[]): Promise<number> {
  const { flags, positionals } = parse(argv);
  const [command, ...rest] = positionals;
  if (command === "serve" || command === "tools") outliveOutput();
  else outliveReader();
  if (flags.version) return say(version);
  if (command === "help") return say(helpFor(help, rest));
  if (flags.help || command === undefined) return say(helpFor(help, positionals));
  switch (command) {
    case "serve":
      return (await import("./cli/serve.ts")).serve();
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
      return (await import("./cli/doctor.ts")).doctor({ json: flags.json ?? false });
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
      throw new InvalidInput(`There is no command "${command}". \`colloquy --help\` lists them.`);
  }
}

function parse(argv: readonly string[]): { flags: Flags; positionals: readonly string[] } {
  try {
    const { values, positionals } = readFlags(argv);
    return { flags: values, positionals };
  } catch (error) {
    throw new InvalidInput(`${messageOf(error)}. \`colloquy --help\` shows how it goes.`, { cause: error });
  }
}

function onOutageIn(text: string | undefined): "wait" | "fail" | undefined {
  if (text === undefined || text === "wait" || text === "fail") return text;
  throw new InvalidInput("--on-outage is wait or fail.");
}

function readFlags(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
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
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
    },
  });
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
