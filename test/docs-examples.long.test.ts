import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { blocksOf, patternOf, read, root } from "./doc-pages.ts";
import { skipCurl } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const cli = join(root, "src/cli.ts");

/** Without what the developer's own shell has set. */
const plainEnvironment = {
  PATH: process.env["PATH"] ?? "",
  COLLOQUY_PORT: "0",
  COLLOQUY_PROBE: "false",
  COLLOQUY_LOG_LEVEL: "warn",
};

describe("examples for the shell", () => {
  let server: ChildProcess;
  let port: string;
  let folder: string;
  let program: string;
  const printed: string[] = [];
  const env: Record<string, string> = { ...plainEnvironment };

  before(async () => {
    folder = temporaryFolder("docs");
    env["COLLOQUY_DATA"] = await freshDataDirectory();
    env["CURL_HOME"] = folder;
    // An answer that is an error fails its example; no progress bar where nobody looks.
    writeFileSync(join(folder, ".curlrc"), "silent\nshow-error\nfail-with-body\n");
    program = join(folder, "colloquy");
    const command = `"${process.execPath}" --disable-warning=ExperimentalWarning "${cli}"`;
    writeFileSync(program, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    server = spawn(program, ["serve"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout! })) {
      printed.push(line);
      if (line.includes("listening")) break;
    }
    port = /:(\d+)/.exec(printed.at(-1) ?? "")?.[1] ?? assert.fail(`the server did not start: ${printed.join("\n")}`);
  });
  after(async () => {
    const gone = once(server, "exit");
    server.kill("SIGTERM");
    assert.deepEqual(await gone, [0, null]);
  });

  test("docs/tour.md shows what a start prints, and README.md a part of it", () => {
    const linesOf = (page: string) =>
      blocksOf(page)
        .find(({ language }) => language === "console")!
        .text.split("\n");
    const transcript = linesOf("docs/tour.md");
    assert.ok(printed.length > 3);
    for (const line of printed) {
      const shown = line.replaceAll(env["COLLOQUY_DATA"]!, "/home/ada/colloquy/data").replaceAll(`:${port}`, ":8000");
      assert.ok(transcript.includes(shown), `not in the tour: ${shown}`);
    }
    for (const line of linesOf("README.md")) assert.ok(transcript.includes(line) || line.trim() === "…", line);
  });

  for (const page of [
    // First, since it answers the only question that is open.
    "docs/tour.md",
    "README.md",
    "docs/runs.md",
    "docs/rooms.md",
    "docs/code.md",
    "docs/sandbox.md",
    "docs/messages-api.md",
    "docs/sessions.md",
    "docs/uploads.md",
    "docs/files.md",
    "docs/knowledge.md",
    "docs/rag-eval.md",
    "docs/admin.md",
    "docs/definitions.md",
    "docs/budgets.md",
    "docs/retention.md",
    "docs/personal-data.md",
    "docs/command-line.md",
    "docs/mcp-server.md",
    "docs/ollama-api.md",
    "docs/todo.md",
    "docs/responses.md",
  ]) {
    const blocks = blocksOf(page);
    for (const [index, { language, text }] of blocks.entries()) {
      if (language !== "sh") continue;
      test(`${page}: ${text.split("\n", 1)[0]}`, { skip: text.includes("curl") && skipCurl }, async () => {
        const script = `exec 2>&1\n${text.replaceAll("localhost:8000", `localhost:${port}`)}`;
        const { stdout } = await promisify(execFile)("sh", ["-euc", script], { cwd: folder, env });
        const shown = blocks[index + 1];
        if (shown?.language === "text") assert.match(stdout, patternOf(shown.text));
      });
    }
  }

  test("docs/command-line.md has every command and option of --help", async () => {
    const { stdout } = await promisify(execFile)(program, ["--help"], { cwd: folder, env });
    const page = read("docs/command-line.md");
    const commands = [...stdout.matchAll(/^ {2}\.\/colloquy (\w+(?: (?:add|list))?)/gm)].map(([, command]) => command!);
    assert.ok(commands.length >= 5);
    for (const command of commands) assert.match(page, new RegExp(`^\\| \`${command}\\b`, "m"));
    for (const [option] of stdout.matchAll(/--\w+/g)) assert.ok(page.includes(option), option);
  });
});
