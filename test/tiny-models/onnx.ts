import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { wordVector } from "../embedding-server.ts";

const words =
  `[PAD] [UNK] [CLS] [SEP] a and bird birds cat catches fish heron herons in is milk of pond purrs password reset
  river stands the to water your`.split(/\s+/);
const dimension = 32;

/** Writes a folder as the hub has it: a model that looks each word up in a table, and its tokenizer. */
export async function writeTinyOnnx(folder: string): Promise<void> {
  await mkdir(join(folder, "onnx"), { recursive: true });
  await writeFile(join(folder, "onnx/model.onnx"), model());
  const vocab = Object.fromEntries(words.map((word, index) => [word, index]));
  const added = words.slice(0, 4).map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab,
    },
  };
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  const settings = { tokenizer_class: "BertTokenizer", model_max_length: 64, pad_token: "[PAD]", unk_token: "[UNK]" };
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(settings));
  await writeFile(join(folder, "config.json"), JSON.stringify({ model_type: "bert", hidden_size: dimension }));
}

/** `last_hidden_state = Gather(table, input_ids)`, in ONNX's protobuf. */
function model(): Buffer {
  const table = Float32Array.from(words.flatMap((word) => wordVector(word, dimension)));
  const initializer = message(
    [1, words.length],
    [1, dimension],
    [2, float],
    [8, "table"],
    [9, Buffer.from(table.buffer)],
  );
  const node = message([1, "table"], [1, "input_ids"], [2, "last_hidden_state"], [3, "look-up"], [4, "Gather"]);
  const graph = message(
    [1, node],
    [2, "tiny"],
    [5, initializer],
    [11, value("input_ids", int64, ["batch", "sequence"])],
    [12, value("last_hidden_state", float, ["batch", "sequence", dimension])],
  );
  return message([1, 8], [2, "colloquy"], [7, graph], [8, message([1, ""], [2, 13])]);
}

const float = 1;
const int64 = 7;

function value(name: string, type: number, shape: readonly (string | number)[]): Buffer {
  const dimensions = shape.map((size): Field => [1, message(typeof size === "number" ? [1, size] : [2, size])]);
  return message([1, name], [2, message([1, message([1, type], [2, message(...dimensions)])])]);
}

type Field = readonly [number: number, value: number | string | Buffer];

function message(...fields: readonly Field[]): Buffer {
  const parts = fields.flatMap(([number, content]) => {
    if (typeof content === "number") return [varint(number << 3), varint(content)];
    const bytes = Buffer.from(content);
    return [varint((number << 3) | 2), varint(bytes.length), bytes];
  });
  return Buffer.concat(parts);
}

function varint(number: number): Buffer {
  const bytes: number[] = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
