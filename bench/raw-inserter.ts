import pg from "pg";
import { cpuMilliseconds, serveCommands } from "./child.ts";
import type { Usage } from "./probe.ts";

/** The limit of a durable step: one prepared INSERT of so many bytes of JSON, each committed by itself, some at a time. */
const [url = ""] = process.argv.slice(2);
const atOnce = 16;
const pool = new pg.Pool({ connectionString: url, max: atOnce });

const table = `create table if not exists raw_items (
  thread bigint not null, seq bigint not null, body jsonb not null, primary key (thread, seq))`;
await pool.query(table);
let last = 0;

async function insert({ count, bytes }: { readonly count: number; readonly bytes: number }): Promise<void> {
  const empty = JSON.stringify({ content: "" });
  const body = JSON.stringify({ content: "x".repeat(Math.max(0, bytes - empty.length)) });
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const seq = ++last;
      await pool.query({
        name: "insert",
        text: "insert into raw_items (thread, seq, body) values ($1, $2, $3)",
        values: [seq % 100, seq, body],
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function check(): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*)::int as count from raw_items");
  if (rows[0]?.count !== last) throw new Error(`${rows[0]?.count} rows instead of ${last}`);
}

serveCommands({
  insert,
  check,
  usage: (): Usage => ({ cpuMs: cpuMilliseconds(), rssBytes: process.memoryUsage.rss() }),
});
