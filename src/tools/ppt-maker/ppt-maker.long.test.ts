import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { openTestPlace, type TestPlace } from "../../../test/code-place.ts";
import { filesOf } from "../../protocol/threads/files.ts";
import type { StepAnswer, StepRequest, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { SandboxUnusable } from "../../sandbox/sandbox.ts";
import { type PptMakerDeps, pptMakerTool } from "./ppt-maker.ts";

const place = await openTestPlace();
const skip = existsSync("/usr/bin/chromium") ? false : "no Chromium";
const outside = await mkdtemp(join(tmpdir(), "colloquy-slides-"));
after(() => rm(outside, { recursive: true }));

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

suite("ppt_maker", { skip: place ? false : "no bubblewrap" }, () => {
  const { context, workspaceOf, close } = place ?? ({} as TestPlace);
  after(close);
  const asked: StepRequest[] = [];
  const answering = (text: string, finish: StepAnswer["finish"] = "stop"): ToolContext["step"] => {
    return async (request) => {
      asked.push(request);
      return { text, calls: [], finish, model: "m" };
    };
  };
  const toolWith = (change: Partial<PptMakerDeps> = {}) =>
    pptMakerTool({
      ...place!,
      marp: undefined,
      chromium: undefined,
      searchPath: "",
      prompt: async (values) => JSON.stringify(values),
      ...change,
    });
  const make = (input: object, at: ToolContext, change?: Partial<PptMakerDeps>): Promise<ToolResult> => {
    const tool = toolWith(change);
    return tool.execute(tool.input.parse(input), at);
  };
  const made = ({ data }: ToolResult) => filesOf(data).map(({ path, change }) => `${path} ${change}`);

  test("instructions become a deck, and that a page, a presentation and previews", { skip }, async () => {
    const at = context({ step: answering("# Plan *B*\n\n---\n\n## Costs\n\n![w:200](chart.png)\n\n![](gone.png)") });
    const workspace = await workspaceOf(at);
    await workspace.write("chart.png", pixel);
    const result = await make({ instructions: "What we do next", slides: 2, formats: ["html", "pptx"] }, at);
    assert.equal(result.isError, undefined, result.content);
    assert.deepEqual(made(result), [
      "slides/plan-b.001.png made",
      "slides/plan-b.002.png made",
      "slides/plan-b.html made",
      "slides/plan-b.md made",
      "slides/plan-b.pptx made",
    ]);
    assert.match(result.content, /^2 slides: Plan B\n.*\nNot shown, since they can't be: gone\.png$/s);
    const prompt = JSON.parse(String(asked.at(-1)?.messages[0]?.content)) as Record<string, string>;
    assert.deepEqual(prompt, { instructions: "What we do next", slides: "2", pictures: "chart.png", deck: "" });
    const begin = async (path: string) =>
      (await workspace.read(`slides/plan-b.${path}`, { maxBytes: 4 })).content.toString("latin1");
    assert.deepEqual([await begin("pptx"), await begin("001.png")], ["PK\x03\x04", "\x89PNG"]);
    const html = (await workspace.read("slides/plan-b.html", { maxBytes: 10_000_000 })).content.toString();
    assert.ok(html.includes(pixel.toString("base64")), "the chart is in the page");
    assert.ok(!existsSync(join(workspace.folder, ".cache")), "the browser leaves nothing behind");
    assert.deepEqual(await readdir(join(workspace.folder, ".colloquy")), []);
  });

  test("a deck is anybody's: it reads no file, asks no server, sets nothing", { skip }, async () => {
    const requests: string[] = [];
    const listener = createServer((request, response) => {
      requests.push(request.url!);
      response.end("CANARY-NET");
    });
    await new Promise<void>((resolve) => listener.listen(0, "0.0.0.0", resolve));
    const web = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const canary = join(outside, "canary.png");
    await writeFile(canary, "CANARY-FILE");
    const at = context();
    const workspace = await workspaceOf(at);
    await symlink(canary, join(workspace.folder, "link.png"));
    await workspace.write(".marprc.yml", "html: true\nallowLocalFiles: true\n");
    await workspace.write(
      "marp.config.mjs",
      'import fs from "node:fs"; fs.writeFileSync("ran", ""); export default {};',
    );
    const deck = [
      `---\nmarp: true\nbackgroundImage: url(${web}/a)\n---\n\n# Hostile`,
      `![](file://${canary}) ![bg](${canary}) ![](link.png) ![](../../canary.png) ![](${web}/b.png)`,
      `<script>fetch("${web}/c"); document.body.append(1)</script>`,
      `<iframe src="file://${canary}"></iframe><iframe src="${web}/d"></iframe>`,
      `<style>@import url("${web}/e.css"); h1 { background: url("file://${canary}") }</style>`,
    ].join("\n\n");
    await workspace.write("hostile.md", deck);
    const result = await make({ deck: "hostile.md", formats: ["html", "pdf"] }, at);
    listener.close();
    assert.deepEqual(requests, []);
    assert.equal(result.isError, undefined, result.content);
    for (const { path } of filesOf(result.data)) {
      const { content } = await workspace.read(path, { maxBytes: 50_000_000 });
      assert.ok(!content.includes("CANARY-"), path);
      assert.ok(!content.includes(Buffer.from("CANARY-FILE").toString("base64").slice(0, 12)), path);
    }
    const html = (await workspace.read("slides/hostile.html", { maxBytes: 10_000_000 })).content.toString();
    assert.ok(!html.includes("<iframe") && !html.includes("<script>fetch"), "it is shown as text");
    assert.ok(!existsSync(join(workspace.folder, "ran")));
  });

  test("without Chromium: HTML, and a word about the rest", async () => {
    const at = context({ step: answering("# A") });
    const result = await make({ instructions: "a", name: "My deck" }, at, { chromium: "/nowhere/chromium" });
    assert.equal(result.isError, undefined);
    assert.deepEqual(made(result), ["slides/my-deck.html made", "slides/my-deck.md made"]);
    assert.match(result.content, /Not made: PDF\. Chromium is not installed: apt-get install chromium/);
    assert.match(result.content, /Not made: PPTX\./);
  });

  for (const [name, change, why] of [
    ["Marp", { marp: "/nowhere/marp" }, /Marp is not installed here: npm install -g @marp-team\/marp-cli/],
    ["a sandbox", { sandbox: { open: () => Promise.reject(new SandboxUnusable("none works")) } }, /none works/],
  ] as const)
    test(`without ${name}: the deck, and what is missing`, async () => {
      const at = context({ step: answering("# A\n\n---\n\n# B") });
      const result = await make({ instructions: "a", formats: ["pdf"] }, at, change);
      assert.equal(result.isError, true);
      assert.deepEqual(made(result), ["slides/a.md made"]);
      assert.match(result.content, why);
    });

  test("a deck is changed by instructions, and a model that writes none is told", async () => {
    const at = context({ step: answering("# Other") });
    const workspace = await workspaceOf(at);
    await workspace.write("slides/talk.md", "# Talk");
    const none = { marp: "/nowhere/marp" };
    const result = await make({ deck: "slides/talk.md", instructions: "another title" }, at, none);
    assert.deepEqual(made(result), ["slides/talk.md changed"]);
    assert.match(String(asked.at(-1)?.messages[0]?.content), /This is the deck as it is.*# Talk/s);
    await assert.rejects(make({}, at), /`instructions`/);
    await assert.rejects(make({ instructions: "a" }, { ...at, step: answering(" ") }), /no slides/);
    await assert.rejects(make({ instructions: "a" }, { ...at, step: answering("# A", "length") }), /fewer slides/);
    await assert.rejects(make({ deck: "nowhere.md" }, at), /nowhere\.md/);
  });

  test("a call that is stopped stops Marp", { skip }, async () => {
    const stop = new AbortController();
    const told = (text: string) => {
      if (text.startsWith("Making")) setTimeout(() => stop.abort(new Error("stopped")), 200);
    };
    const at = context({ step: answering("# A"), signal: stop.signal, progress: told });
    await assert.rejects(make({ instructions: "a", formats: ["pdf"] }, at), /stopped/);
    assert.deepEqual(await readdir(join((await workspaceOf(at)).folder, "slides")), ["a.md"]);
  });
});
