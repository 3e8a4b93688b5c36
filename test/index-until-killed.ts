import { openDatabase } from "../src/store/driver/open.ts";
import { ensureIndexes, type IndexedCollection } from "../src/store/knowledge/indexes.ts";
import type { Place } from "./databases.ts";

// Makes the indexes of a collection, and dies when it has indexed the words of two batches.
const { place, collection } = JSON.parse(process.argv[2]!) as {
  readonly place: Place;
  readonly collection: IndexedCollection;
};
const database = await openDatabase(place);
let batches = 0;
database.onTrip = (text) => {
  if (/^(insert into rag_terms|with moved as)/.test(text) && ++batches === 3) process.kill(process.pid, "SIGKILL");
};
await ensureIndexes(database, collection);
