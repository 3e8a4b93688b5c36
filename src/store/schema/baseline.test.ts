import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { eachDatabase, type Place } from "../../../test/databases.ts";
import { differences, schemaLines } from "../../../test/schema-lines.ts";
import { openDatabase } from "../driver/open.ts";
import { baseline } from "./baseline.ts";
import { migrate } from "./migrate.ts";
import { oldMigrations } from "./old-migrations/index.ts";

test("the baseline stands for the old migrations, all of them", () => {
  assert.deepEqual(
    baseline.names,
    oldMigrations.map(({ name }) => name),
  );
});

/** What would be wrong with a baseline, each with the line that must tell it. */
const slips: readonly (readonly [string, RegExp])[] = [
  ["alter table runs drop column retry_at", /^column runs\.retry_at: .* \(only before\)$/],
  [
    "alter table runs add column more text",
    /^column runs\.more: place 28 text storage x collation default \(only after\)$/,
  ],
  ["alter table budgets alter column reserved set default '[]'", /default '\[\]'::jsonb .*\(only after\)$/],
  [
    "alter table api_keys alter column unscoped_until drop default",
    /^column api_keys\.unscoped_until: .*default .*days/,
  ],
  ["alter table threads alter column title drop not null", /^column threads\.title: place 3 text default /],
  ["alter table spending alter column tokens type numeric", /^column spending\.tokens: .* numeric /],
  [
    "alter table rag_vectors alter column embedding set storage extended",
    /^column rag_vectors\.embedding: .*storage x/,
  ],
  ["alter table rag_terms reset (toast_tuple_target)", /^relation rag_terms: .*toast_tuple_target=8160/],
  ["alter table deltas set logged", /^relation deltas: r u heap/],
  ["drop index items_here", /^index items_here: .* \(only before\)$/],
  ["drop index users_by_looks; create index users_by_looks on users (looks)", /^index users_by_looks: CREATE INDEX/],
  ["alter table api_keys drop constraint api_keys_name_scopes", /^constraint api_keys\.api_keys_name_scopes: CHECK/],
  ["alter table items rename constraint items_check to items_kinds", /^constraint items\.items_kinds: CHECK/],
  ["alter table items disable trigger items_paired", /^trigger items\.items_paired: D CREATE TRIGGER/],
  ["drop trigger runs_with_threads on runs", /^trigger runs\.runs_with_threads: .* \(only before\)$/],
  ["alter function period_start(text) immutable", /^function period_start\(text\): [^]* IMMUTABLE/],
  [
    "create or replace function items_refuse_truncate() returns trigger language plpgsql as $$ begin return null; end $$",
    /^function items_refuse_truncate\(\): [^]*return null/,
  ],
  ["alter table tasks alter column id set increment by 2", /^sequence tasks_id_seq: integer 1 1 2147483647 2 /],
  ["comment on column users.looks is 'a skeleton'", /^comment table column public\.users\.looks: a skeleton/],
  ["create view names as select name from users", /^view names: /],
];

eachDatabase((databases) => {
  test("the baseline makes what the old migrations made, and leaves no more rows", async () => {
    const [made, grown] = [await databases.open({ migrated: false }), await databases.open({ migrated: false })];
    const only = (name: string) => baseline.names.includes(name);
    assert.deepEqual(await migrate(made, { only }), baseline.names);
    await migrate(grown, { history: { migrations: oldMigrations } });

    const before = await schemaLines(made.query);
    assert.deepEqual(
      differences(
        { name: "by the baseline", lines: before },
        { name: "by the old migrations", lines: await schemaLines(grown.query) },
      ),
      [],
    );

    const tables = await made.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    );
    for (const { query } of [made, grown])
      for (const { name } of tables) {
        const [row] = await query<{ count: number }>(`select count(*) from "${name}"`);
        assert.equal(row!.count, name === "migrations" ? baseline.names.length : 0, name);
      }

    const untold: string[] = [];
    for (const [slip, telling] of slips) {
      const after = await afterwards(made, slip);
      const told = differences({ name: "before", lines: before }, { name: "after", lines: after });
      if (!told.some((line) => telling.test(line)))
        untold.push(`${slip}: ${told.join("\n") || "no difference is seen"}`);
    }
    assert.deepEqual(untold, []);
    assert.deepEqual(await schemaLines(made.query), before);
  });

  if (databases.kind === "postgres") {
    test("a start reads the baseline and the old migrations only if it needs them", async () => {
      const place = await databases.place();
      const first = await readBy(place);
      assert.ok(first.includes("baseline.ts") && first.includes("migrations/index.ts"), first.join(" "));
      assert.deepEqual(first.filter(isOld), []);
      assert.deepEqual((await readBy(place)).filter(isOld), []);

      const older = await databases.place();
      const database = await openDatabase(older);
      await migrate(database, { only: (name) => name < "0029" });
      await database.close();
      assert.equal((await readBy(older)).filter(isOld).length, oldMigrations.length + 1);
    });
  }
});

const isOld = (path: string) => path.startsWith("old-migrations/");

/** The lines of a schema after a change that is taken back. */
async function afterwards(
  { transaction }: Awaited<ReturnType<typeof openDatabase>>,
  change: string,
): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  const takenBack = new Error("taken back");
  await assert.rejects(
    transaction(async (query) => {
      await query(change);
      lines = await schemaLines(query);
      throw takenBack;
    }),
    takenBack,
  );
  return lines;
}

/** Brings a database up in a process of its own; resolves to the modules of this folder that it has loaded. */
async function readBy(place: Place): Promise<readonly string[]> {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { openDatabase } = await import(${JSON.stringify(import.meta.resolve("../driver/open.ts"))});
    const { migrate } = await import(${JSON.stringify(import.meta.resolve("./migrate.ts"))});
    const database = await openDatabase(JSON.parse(process.argv[1]));
    await migrate(database);
    await database.close();
    const folder = ${JSON.stringify(import.meta.resolve("./"))};
    console.log(JSON.stringify(loaded.filter((url) => url.startsWith(folder)).map((url) => url.slice(folder.length))));
  `;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script, JSON.stringify(place)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as string[];
}
