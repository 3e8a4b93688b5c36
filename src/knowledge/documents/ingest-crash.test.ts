import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eachDatabase } from "../../../test/databases.ts";
import { startEmbeddingServer } from "../../../test/embedding-server.ts";
import { knowledgeOptions } from "../../../test/knowledge.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { ensureOwner } from "../../store/people/users.ts";
import { createKnowledge } from "../knowledge.ts";

const program = join(import.meta.dirname, "../../../test/ingest-until-killed.ts");

eachDatabase((databases) => {
  const undo: (() => unknown)[] = [];
  after(async () => {
    for (const each of undo.toReversed()) await each();
  });

  test("kill -9 while documents are read: each is read to its end, and little is done twice", async () => {
    const place = await databases.place();
    const folder = temporaryFolder("rag_documents");
    const server = await startEmbeddingServer();
    undo.push(server.close);
    // The second batch of the long one is never answered.
    const held = Promise.withResolvers<void>();
    let batches = 0;
    server.isHeld = (texts) => {
      if (texts.length === 1 || ++batches === 1) return false;
      held.resolve();
      return true;
    };
    const paragraphs = Array.from({ length: 100 }, (_, index) => `Heron ${index} stands in the water. `.repeat(9));
    const texts = [paragraphs.join("\n\n"), "A short heron.", "Another heron."];
    const child = spawn(process.execPath, [program, JSON.stringify({ place, folder, url: server.url, texts })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    undo.push(() => child.kill("SIGKILL"));
    const [id] = ((await once(child.stdout, "data")) as [Buffer]).map((data) => data.toString().trim());
    await held.promise;
    child.kill("SIGKILL");
    await once(child, "exit");

    server.isHeld = undefined;
    const database = await openDatabase(place);
    undo.push(database.close);
    // On PostgreSQL the dead one's lease ends by itself, in a minute.
    await database.query(
      "update rag_documents set leased_until = now() - interval '1 second' where leased_until is not null",
    );
    const owner = callerOf(await ensureOwner(database.query), "local");
    const knowledge = await createKnowledge(knowledgeOptions({ database, folder, url: server.url }));
    undo.push(knowledge.close);
    const list = () => knowledge.documents.list(owner, id!, { limit: 10 });
    while ((await list()).some(({ status }) => status === "queued" || status === "working")) await sleep(20);
    assert.deepEqual(
      (await list()).map(({ name, status, error, revision, chunks }) => [name, status, error, revision, chunks]),
      [
        ["0.txt", "ready", null, 1, 100],
        ["1.txt", "ready", null, 1, 1],
        ["2.txt", "ready", null, 1, 1],
      ],
    );
    const asked = server.asked.flat().filter((text) => text !== "dimension");
    assert.equal(new Set(asked).size, 102);
    assert.ok(asked.length <= 102 + 32, `only what was on its way is asked for again: ${asked.length}`);
    assert.equal(await knowledge.documents.text(owner, (await list())[0]!.id), texts[0]);
  });
});
