import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../src/protocol/base/ids.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { startPostgres } from "../../test/postgres.ts";
import { startTestRuns } from "../../test/runs.ts";
import { withOwned, type Part } from "../part.ts";
import type { Row } from "../rows.ts";

const said = "The quick brown fox jumps over the lazy dog and explains at length why. ".repeat(5);

/** The others of these connections are upkeep, which the clock begins. */
const ofMirror = /session_key, id::text|from items/;

type File = { readonly messages: readonly { readonly timestamp: string }[] };
type Costs = { readonly bytes: number; readonly rows: number; readonly trips: number };

/** What a session's file costs for each message: bytes written, and rows and round trips to read what it says. */
export const mirror: Part = {
  name: "mirror",
  run: (bench) =>
    withOwned(async (own) => {
      const postgres = own(await startPostgres({ fsync: true }));
      const folder = await mkdtemp(join(tmpdir(), "mirror-"));
      own({ stop: () => rm(folder, { recursive: true, force: true }) });
      const open = await openDatabase({ url: await postgres.createDatabase(), dataDirectory: folder });
      own({ stop: () => open.close() });
      await migrate(open);
      let rows = 0;
      let trips = 0;
      const query: typeof open.listing.query = async (text, values) => {
        const found = await open.listing.query<never>(text, values);
        if (ofMirror.test(text)) {
          trips++;
          rows += found.length;
        }
        return found;
      };
      const database = { ...open, listing: { ...open.listing, query } };
      const sessions = join(folder, "sessions");
      const service = await startTestRuns({ database, script: () => said, mirror: { folder: sessions } });
      own({ stop: () => service.stop(0) });

      const begin = async (messages: number): Promise<string> => {
        const history = Array.from({ length: messages - 2 }, (_, n) => ({
          id: newId(),
          kind: "message" as const,
          body: { role: n % 2 ? ("assistant" as const) : ("user" as const), content: said },
        }));
        const started = await service.runs.start(service.caller, {
          agent: "assistant",
          history,
          message: { content: said },
        });
        await service.events(started);
        await settled(started.threadId);
        return started.threadId;
      };
      const fileOf = (threadId: string) => stat(join(sessions, `${threadId}.json`));
      /** Until the file has not changed for a while. */
      const settled = async (threadId: string): Promise<void> => {
        for (let before = -1; ;) {
          const { mtimeMs } = await fileOf(threadId).catch(() => ({ mtimeMs: -1 }));
          if (mtimeMs === before && mtimeMs !== -1) return;
          before = mtimeMs;
          await sleep(1200);
        }
      };
      const measure = async (threadId: string): Promise<Costs> => {
        const before = await fileOf(threadId);
        const began = Date.now();
        [rows, trips] = [0, 0];
        await service.ask(said, { threadId });
        await settled(threadId);
        const after = await fileOf(threadId);
        const { messages } = JSON.parse(await readFile(join(sessions, `${threadId}.json`), "utf8")) as File;
        if (Date.parse(messages.at(-1)!.timestamp) < began || messages.length < 20)
          throw new Error("The file does not say what was said.");
        const bytes = after.ino === before.ino ? after.size - before.size : after.size;
        return { bytes: bytes / 2, rows: rows / 2, trips };
      };
      const [long, short] = [await begin(bench.quick ? 500 : 5000), await begin(20)];
      const values: Record<"long" | "short", Costs[]> = { long: [], short: [] };
      for (let round = 0; round < Math.min(bench.rounds, 3); round++) {
        bench.log(`mirror: round ${round + 1}`);
        values.long.push(await measure(long));
        values.short.push(await measure(short));
      }
      [rows, trips] = [0, 0];
      const { started } = await service.ask(said);
      await settled(started.threadId);
      const row = (name: string, unit: string, of: keyof Costs, bar: Row["bar"]): Row => ({
        part: "mirror",
        name,
        unit,
        values: values.long.map((costs) => costs[of]),
        reference: values.short.map((costs) => costs[of]),
        ...(bar && { bar }),
      });
      return [
        row("bytes written for a message into a file of 5,000, against 20", "B", "bytes", { kind: "ratio", max: 1.1 }),
        row("rows read for the same", "rows", "rows", { kind: "value", max: 5 }),
        row("round trips for a run with a file, in a thread that has one", "trips", "trips", { kind: "value", max: 0 }),
        {
          part: "mirror",
          name: "the same, in a new thread",
          unit: "trips",
          values: [trips],
          bar: { kind: "value", max: 1 },
        },
      ];
    }),
};
