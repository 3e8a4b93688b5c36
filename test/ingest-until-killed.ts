import { createKnowledge } from "../src/knowledge/knowledge.ts";
import { callerOf } from "../src/protocol/base/callers.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { ensureOwner } from "../src/store/people/users.ts";
import type { Place } from "./databases.ts";
import { bytesOf, knowledgeOptions } from "./knowledge.ts";

// Adds documents, says their collection's id, and reads them until somebody kills this process.
const { place, folder, url, texts } = JSON.parse(process.argv[2]!) as {
  readonly place: Place;
  readonly folder: string;
  readonly url: string;
  readonly texts: readonly string[];
};
const database = await openDatabase(place);
await migrate(database);
const owner = callerOf(await ensureOwner(database.query), "local");
const { collections, documents } = await createKnowledge({
  ...knowledgeOptions({ database, folder, url }),
  readers: 1,
});
const { id } = await collections.create(owner, { name: "herons", embeddingModel: "http:words" });
for (const [index, text] of texts.entries())
  await documents.add(owner, id, { name: `${index}.txt`, source: { kind: "file" }, bytes: bytesOf(text) });
console.log(id);
setInterval(() => {}, 1000);
