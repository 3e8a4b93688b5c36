import { writeFile } from "node:fs/promises";

const width = 64;
const heads = 4;
const layers = 2;
const inner = 128;
const context = 128;
const specials = ["<unk>", "<s>", "</s>", "▁"];
const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
const tokens = [...specials, ...bytes];
const alignment = 32;

/** Writes a llama of two layers that reads bytes; its weights are arbitrary, and the same each time. */
export async function writeTinyGguf(file: string): Promise<void> {
  const random = numbers(7);
  const tensors = [
    tensor("token_embd.weight", [width, tokens.length], random),
    tensor("output_norm.weight", [width], one),
    tensor("output.weight", [width, tokens.length], random),
    ...Array.from({ length: layers }, (_, layer) => [
      tensor(`blk.${layer}.attn_norm.weight`, [width], one),
      ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) =>
        tensor(`blk.${layer}.${name}.weight`, [width, width], random),
      ),
      tensor(`blk.${layer}.ffn_norm.weight`, [width], one),
      tensor(`blk.${layer}.ffn_gate.weight`, [width, inner], random),
      tensor(`blk.${layer}.ffn_up.weight`, [width, inner], random),
      tensor(`blk.${layer}.ffn_down.weight`, [inner, width], random),
    ]).flat(),
  ];
  const settings = [
    setting("general.architecture", text("llama")),
    setting("general.name", text("tiny")),
    setting("llama.context_length", uint32(context)),
    setting("llama.embedding_length", uint32(width)),
    setting("llama.block_count", uint32(layers)),
    setting("llama.feed_forward_length", uint32(inner)),
    setting("llama.attention.head_count", uint32(heads)),
    setting("llama.attention.head_count_kv", uint32(heads)),
    setting("llama.attention.layer_norm_rms_epsilon", float32(1e-5)),
    setting("llama.rope.dimension_count", uint32(width / heads)),
    setting("tokenizer.ggml.model", text("llama")),
    setting("tokenizer.ggml.tokens", list(8, tokens.map(plainText))),
    setting(
      "tokenizer.ggml.scores",
      list(
        6,
        tokens.map(() => f32(0)),
      ),
    ),
    setting(
      "tokenizer.ggml.token_type",
      list(
        5,
        tokens.map((_, id) => i32(id < 3 ? [2, 3, 3][id]! : id === 3 ? 1 : 6)),
      ),
    ),
    setting("tokenizer.ggml.unknown_token_id", uint32(0)),
    setting("tokenizer.ggml.bos_token_id", uint32(1)),
    setting("tokenizer.ggml.eos_token_id", uint32(2)),
  ];
  let offset = 0;
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  for (const { name, shape, values } of tensors) {
    infos.push(plainText(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    const padded = padding(values.length);
    data.push(values, Buffer.alloc(padded));
    offset += values.length + padded;
  }
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(settings.length),
    ...settings,
    ...infos,
  ]);
  await writeFile(file, Buffer.concat([head, Buffer.alloc(padding(head.length)), ...data]));
}

type Tensor = { readonly name: string; readonly shape: readonly number[]; readonly values: Buffer };

function tensor(name: string, shape: readonly number[], next: () => number): Tensor {
  const values = Float32Array.from({ length: shape.reduce((all, size) => all * size, 1) }, next);
  return { name, shape, values: Buffer.from(values.buffer) };
}

const one = () => 1;

/** Between -0.1 and 0.1, and the same for each seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 0xffff_ffff - 0.5) / 5;
  };
}

function setting(key: string, typed: Buffer): Buffer {
  return Buffer.concat([plainText(key), typed]);
}

const text = (value: string) => Buffer.concat([u32(8), plainText(value)]);
const uint32 = (value: number) => Buffer.concat([u32(4), u32(value)]);
const float32 = (value: number) => Buffer.concat([u32(6), f32(value)]);
const list = (type: number, values: readonly Buffer[]) =>
  Buffer.concat([u32(9), u32(type), u64(values.length), ...values]);

function plainText(value: string): Buffer {
  const content = Buffer.from(value);
  return Buffer.concat([u64(content.length), content]);
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function i32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return buffer;
}

function f32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function padding(length: number): number {
  return (alignment - (length % alignment)) % alignment;
}
