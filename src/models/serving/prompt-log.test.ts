import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { collect } from "../../../test/model-servers/collect.ts";
import { maskSecrets } from "../transport/mask-secrets.ts";
import { createPromptLog } from "./prompt-log.ts";
import { createModels } from "../registry.ts";
import { createScripted } from "../demo/scripted.ts";

let folder: string;
before(async () => (folder = await mkdtemp(join(tmpdir(), "colloquy-prompts-"))));
after(() => rm(folder, { recursive: true }));

test("prompt and answer in full, a line each, secrets masked", async () => {
  const path = join(folder, "logs", "prompts.log");
  const prompts = createPromptLog({ path, secrets: ["hunter2hunter2"] });
  const script = [
    [{ reasoning: "hm" }, { text: "Hel" }, { text: "lo" }, { call: "add", arguments: { a: 1 } }],
    [{ error: "refused" as const, message: "no" }],
  ];
  const models = createModels({ models: [], adapters: { m: createScripted(script) }, prompts });
  const image = "data:image/png;base64," + "A".repeat(5000);
  const content = [
    { type: "text", text: "my key is sk-abcdefghijklmnop and hunter2hunter2" },
    { type: "image", url: image },
  ] as const;
  for (let round = 0; round < 2; round++)
    await collect(models.get("m").stream({ messages: [{ role: "user", content }] }, new AbortController().signal));
  await prompts.close();
  const written = await readFile(path, "utf8");
  assert.doesNotMatch(written, /sk-abc|hunter2|AAAAA/);
  const [served, failed] = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(served.answer, { text: "Hello", reasoning: "hm", calls: [{ name: "add", arguments: '{"a":1}' }] });
  assert.equal(served.request.messages[0].content[0].text, "my key is *** and ***");
  assert.match(failed.error, /model_refused: no/);
});

test("rotation keeps so many files of so many bytes", async () => {
  const path = join(folder, "rotated.log");
  const models = createModels({ models: [], adapters: { m: createScripted(() => "x".repeat(300)) } });
  for (let round = 0; round < 8; round++) {
    // A new log each time: it goes on with the file that is there.
    const prompts = createPromptLog({ path, maxBytes: 1500, files: 3 });
    const logged = createModels({ models: [], adapters: { m: createScripted(() => "x".repeat(300)) }, prompts });
    await collect(logged.get("m").stream({ messages: [] }, new AbortController().signal));
    await prompts.close();
  }
  await models.close();
  const files = (await readdir(folder)).filter((name) => name.startsWith("rotated")).sort();
  assert.deepEqual(files, ["rotated.log", "rotated.log.1", "rotated.log.2"]);
  for (const file of files) assert.ok((await readFile(join(folder, file))).length <= 1500);
});

test("what looks like a secret", () => {
  const secrets = [
    "Bearer abcdefghijk",
    "sk-proj-abc_DEF-123456",
    "csk-abcdefgh1234",
    "ghp_abcdefgh12345678",
    "AKIAABCDEFGH1234",
    "eyJhbGciOiJI.eyJzdWIiOiIx.sig_nature",
  ];
  for (const secret of secrets)
    assert.doesNotMatch(maskSecrets(`see ${secret} here`), new RegExp(secret.split(" ").at(-1)!), secret);
  assert.equal(maskSecrets("postgres://me:pass@db/x"), "postgres://me:***@db/x");
  assert.equal(maskSecrets('{"api_key": "abcd1234"}'), '{"api_key": "***"}');
  const long = "eyJ-".repeat(500_000);
  assert.equal(maskSecrets(long), long);
  const plain = "The risk-free task-list of skiers, https://example.com/a?b=c and a key: value pair.";
  assert.equal(maskSecrets(plain), plain);
});
