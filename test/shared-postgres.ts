import { startPostgres } from "./postgres.ts";

/** One PostgreSQL server for many test files: prints its URL, and ends when its input does (scripts/test.mjs). */
const server = await startPostgres({ settings: {} });
process.stdout.write(`${server.url}\n`);
process.stdin.resume().once("end", () => void server.stop());
