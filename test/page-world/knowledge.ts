import type { Client } from "../../src/client/client.ts";
import { documents } from "./tools.ts";

export type Knowledge = {
  /** By name. */
  readonly collections: Readonly<Record<keyof typeof documents, string>>;
  readonly documents: Readonly<Record<string, string>>;
  /** Of a question that was asked. */
  readonly trace: string;
};

/** Collections with their documents, of which one can't be read. */
export async function fillKnowledge({ knowledge }: Client): Promise<Knowledge> {
  const collections: Record<string, string> = {};
  const ids: Record<string, string> = {};
  for (const [name, files] of Object.entries(documents)) {
    const { id } = await knowledge.create({ name, description: descriptions[name as keyof typeof documents] });
    collections[name] = id;
    for (const [file, text] of Object.entries(files))
      ids[file] = (await knowledge.addFile(id, { name: file, bytes: Buffer.from(text) })).document.id;
  }
  for (const id of Object.values(ids))
    while (!["ready", "failed"].includes((await knowledge.document(id)).status))
      await new Promise((go) => setTimeout(go, 50));
  const { id: trace } = await knowledge.query({
    question: "What does Yirgacheffe cost?",
    collections: ["Supplier contracts"],
  });
  return { collections: collections as Knowledge["collections"], documents: ids, trace };
}

const descriptions = {
  "Supplier contracts": "What we pay for green coffee, and when it comes",
  "Brewing and machines": "Recipes, grinders, care",
} as const;
