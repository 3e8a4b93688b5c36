import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { writeTinyGguf } from "../../../test/tiny-models/gguf.ts";
import { writeTinyOnnx } from "../../../test/tiny-models/onnx.ts";
import { openLocalEmbedder } from "./embed-local.ts";

/** A folder with the optional packages; without it what needs them is left out. */
const installed = process.env["COLLOQUY_TEST_PACKAGES"] ?? join(import.meta.dirname, "../../..");
const without = (name: string) =>
  existsSync(join(installed, "node_modules", name)) ? false : `${name} is not installed`;

const models = temporaryFolder("models");
const environment = { PATH: process.env["PATH"] ?? "" };
const { signal } = new AbortController();

const likeness = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0);

test("an ONNX model embeds in a process of its own", { skip: without("@huggingface/transformers") }, async () => {
  await writeTinyOnnx(join(models, "tiny"));
  const embedder = await openLocalEmbedder("onnx", "tiny", { models, packages: installed, environment });
  try {
    assert.deepEqual([embedder.model, embedder.dimension], ["onnx:tiny", 32]);
    const texts = [
      "The heron stands in the water",
      "a heron in the water",
      "reset your password",
      "heron ".repeat(500),
    ];
    const [heron, near, far, long] = await embedder.embed(texts, "document", signal);
    assert.ok(likeness(heron!, near!) > likeness(heron!, far!) + 0.1);
    assert.equal(long!.length, 32);
    assert.ok(Math.abs(likeness(heron!, heron!) - 1) < 1e-5, "of length 1");
    assert.deepEqual(await embedder.embed([], "query", signal), []);
    await assert.rejects(embedder.embed(["x"], "query", AbortSignal.abort(new Error("enough"))), /enough/);
    await embedder.close!();
    assert.deepEqual(
      await embedder.embed([texts[0]!], "query", signal),
      [heron!],
      "it is loaded again when it is needed",
    );
  } finally {
    await embedder.close!();
  }
});

test("a GGUF model embeds in a process of its own", { skip: without("node-llama-cpp") }, async () => {
  await writeTinyGguf(join(models, "tiny.gguf"));
  const embedder = await openLocalEmbedder("gguf", "tiny.gguf", { models, packages: installed, environment });
  try {
    assert.equal(embedder.dimension, 64);
    const texts = ["The heron stands", "The heron stands", "password", "x".repeat(5000)];
    const [one, same, other, long] = await embedder.embed(texts, "document", signal);
    assert.deepEqual(one, same);
    assert.ok(likeness(one!, other!) < 0.999);
    assert.equal(long!.length, 64);
    assert.ok(long!.every(Number.isFinite));
  } finally {
    await embedder.close!();
  }
});

test("what is missing or broken is told in words that help", async () => {
  const packages = temporaryFolder("packages");
  await writeTinyOnnx(join(models, "there"));
  await assert.rejects(
    openLocalEmbedder("onnx", "nothing", { models, packages, environment }),
    /No embedding model at/,
  );
  await assert.rejects(openLocalEmbedder("gguf", "../../etc/passwd", { models, packages, environment }), {
    code: "embedding_model_missing",
  });
  if (!without("@huggingface/transformers")) {
    await mkdir(join(models, "broken"), { recursive: true });
    await writeFile(join(models, "broken/config.json"), "{}");
    const options = { models, packages: installed, environment };
    await assert.rejects(openLocalEmbedder("onnx", "broken", options), { code: "embedding_model_broken" });
  }
  if (without("@huggingface/transformers"))
    await assert.rejects(openLocalEmbedder("onnx", "there", { models, packages, environment }), {
      code: "package_missing",
      message: /npm install @huggingface\/transformers/,
    });
});
