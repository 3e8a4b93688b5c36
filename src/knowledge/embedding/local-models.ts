import { readdir } from "node:fs/promises";
import { join } from "node:path";

const maxModels = 100;

/** The embedding models in the folder of models, as collections name them. */
export async function localModels(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    if (found.length >= maxModels) break;
    if (!entry.isDirectory()) {
      if (entry.name.endsWith(".gguf")) found.push(`gguf:${entry.name}`);
    } else if ((await entriesOf(join(folder, entry.name, "onnx"))).some(({ name }) => name === "model.onnx"))
      found.push(`onnx:${entry.name}`);
  }
  return found.toSorted();
}

/** None where there is no such folder. */
async function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
