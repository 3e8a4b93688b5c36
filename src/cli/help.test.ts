import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { commandsIn, helpFor } from "./help.ts";

const help = `Colloquy.

  ./colloquy run "<message>"   ask
      --json                 lines
  ./colloquy runs              list
  ./colloquy user add <name>   add
  ./colloquy user list         list them

  --help, --version`;
const more = "\n\nRun `./colloquy --help` for all commands.";

test("the help of a command is what the whole help says of it", () => {
  assert.equal(helpFor(help, ["run"]), `  ./colloquy run "<message>"   ask\n      --json                 lines${more}`);
  assert.equal(helpFor(help, ["runs", "x"]), `  ./colloquy runs              list${more}`);
  assert.match(helpFor(help, ["user"]), /user add.*user list/s);
  assert.equal(helpFor(help, ["user", "list"]), `  ./colloquy user list         list them${more}`);
});

test("the commands are those that it tells of, each once", () => {
  assert.deepEqual(commandsIn(help), ["run", "runs", "user"]);
});

test("of no command, or of one that is not there, all is told", () => {
  for (const words of [[], ["nosuch"]]) assert.equal(helpFor(help, words), help);
});

test("a mistyped option or command names the nearest one, and one like no other names none", async () => {
  const cli = join(import.meta.dirname, "../cli.ts");
  const told = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [cli, ...words]).then(
      () => assert.fail("it took them"),
      ({ stderr }: { stderr: string }) => stderr,
    );
  const [option, command, strange] = await Promise.all([
    told("runs", "--limt", "3"),
    told("docter"),
    told("runs", "--xyzzy"),
  ]);
  const usage = "Run `./colloquy --help` for usage.\n";
  assert.equal(option, `colloquy: Unknown option --limt. Did you mean --limit? ${usage}`);
  assert.match(command, /^colloquy: Unknown command "docter"\. Did you mean doctor\? Run `\.\/colloquy --help`/);
  assert.equal(strange, `colloquy: Unknown option --xyzzy. ${usage}`);
});
