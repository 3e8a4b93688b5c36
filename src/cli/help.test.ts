import assert from "node:assert/strict";
import { test } from "node:test";
import { helpFor } from "./help.ts";

const help = `Colloquy.

  colloquy run "<message>"   ask
      --json                 lines
  colloquy runs              list
  colloquy user add <name>   add
  colloquy user list         list them

  --help, --version`;
const more = "\n\nRun `colloquy --help` for all commands.";

test("the help of a command is what the whole help says of it", () => {
  assert.equal(helpFor(help, ["run"]), `  colloquy run "<message>"   ask\n      --json                 lines${more}`);
  assert.equal(helpFor(help, ["runs", "x"]), `  colloquy runs              list${more}`);
  assert.match(helpFor(help, ["user"]), /user add.*user list/s);
  assert.equal(helpFor(help, ["user", "list"]), `  colloquy user list         list them${more}`);
});

test("of no command, or of one that is not there, all is told", () => {
  for (const words of [[], ["nosuch"]]) assert.equal(helpFor(help, words), help);
});
