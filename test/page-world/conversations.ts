import type { Client, RunInput } from "../../src/client/client.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { sales } from "./tools.ts";
import { said } from "./answers.ts";

/** Threads by what was said first in them, and rooms. */
export type Conversations = {
  readonly threads: Readonly<Record<Told, string>>;
  /** What answered first in them. */
  readonly runs: Readonly<Record<Told, string>>;
  readonly rooms: Readonly<Record<"analysis" | "atWork", string>>;
};
type Told = Exclude<keyof typeof said, "room" | "roomAtWork">;

const titles: Readonly<Record<Told, string>> = {
  prices: "Suppliers' prices",
  report: "Third quarter by region",
  streaming: "About us, for the website",
  next: "Shorter, please",
  failed: "Portuguese product page",
  limit: "Tidy the task list",
  unknown: "Order from Sidama",
  question: "Samples for Lyon",
  plan: "Friday's tasting",
  planAtWork: "Tasting in Lyon",
  delegated: "A new grinder",
  markdown: "Half a litre of filter",
  stopped: "All reviews",
  tasks: "Three things to do",
  archived: "The spare key",
  german: "Lieferung aus Huila",
  scheduled: "What is due, each morning",
};

type Filling = { readonly ada: Client; readonly ben: Client; readonly database: Database };

export async function fillConversations({ ada, ben, database }: Filling): Promise<Conversations> {
  const threads: Partial<Record<Told, string>> = {};
  const runs: Partial<Record<Told, string>> = {};
  const begin = async (what: Told, agent = "roaster", more: Partial<RunInput> = {}) => {
    const { id } = await ada.createThread({ title: titles[what], agent });
    threads[what] = id;
    const run = await ada.startRun(id, { agent, content: said[what], ...more });
    runs[what] = run.id;
    return run;
  };
  /** Until it has ended, or waits. */
  const settled = async (run: { readonly id: string }, client = ada) => {
    for await (const { event } of client.follow(run.id))
      if (event.type === "run-end" || event.type === "run-wait") return;
  };
  const done = async (...given: Parameters<typeof begin>) => settled(await begin(...given));

  const archived = await begin("archived");
  await settled(archived);
  await done("delegated");
  await done("markdown");
  await done("plan", "planner");
  await done("tasks");
  await Promise.all([
    done("failed"),
    done("limit", "tidier"),
    done("unknown"),
    done("question"),
    done("german"),
    done("prices"),
  ]);
  const upload = await ada.uploads.send(new File([sales], "sales-q3.csv", { type: "text/csv" }));
  await done("report", "roaster", { files: [upload.id] });
  const stopped = await begin("stopped");
  await until(async () => (await ada.items(threads.stopped!)).length > 0);
  await ada.cancel(stopped.id);
  await settled(stopped);
  await ada.changeThread(threads.archived!, { archived: true });
  for (const [name, text] of Object.entries({ "invitation.md": "# Friday at six\n", "prices.csv": "coffee,price\n" }))
    await ada.files.at(threads.plan!).upload(name, text);

  await begin("planAtWork", "planner");
  await begin("streaming");
  await ada.startRun(threads.streaming!, { agent: "roaster", content: said.next });
  const schedule = await fillSchedules(ada);
  threads.scheduled = schedule;

  const own = await ben.createThread({ title: "Tasks of the day" });
  await settled(
    await ben.startRun(own.id, { agent: "assistant", content: said.tasks, options: { model: "small" } }),
    ben,
  );
  await spreadOverDays(database, Object.values(threads));
  threads.next = threads.streaming!;
  return {
    threads: threads as Conversations["threads"],
    runs: runs as Conversations["runs"],
    rooms: await fillRooms(ada, ben),
  };
}

async function fillSchedules({ schedules }: Client): Promise<string> {
  const morning = await schedules.create({
    agent: "roaster",
    prompt: said.scheduled,
    cron: "30 8 * * mon-fri",
    timeZone: "Europe/Paris",
    missed: "once",
  });
  await schedules.create({
    agent: "scout",
    prompt: "Which contracts end within three months? Only those that are new since last week.",
    every: "1w",
    threadId: morning.threadId,
  });
  const { id } = await schedules.create({ agent: "tidier", prompt: "Close what is done.", every: "6h" });
  await schedules.update(id, { enabled: false });
  await schedules.runNow(morning.id);
  return morning.threadId;
}

async function fillRooms(ada: Client, ben: Client): Promise<Conversations["rooms"]> {
  const analysis = await ada.rooms.create({ kind: "analysis", title: "Third quarter" });
  await ada.rooms.invite(analysis.id, "ben");
  await ada.rooms.files(analysis.id).upload("sales-q3.csv", sales);
  await ben.rooms.say(analysis.id, { content: said.room });
  await until(async () => JSON.stringify(await ada.rooms.messages(analysis.id)).includes("before it goes out"));
  const atWork = await ada.rooms.create({ kind: "analysis", title: "June blend" });
  await ada.rooms.say(atWork.id, { content: said.roomAtWork });
  return { analysis: analysis.id, atWork: atWork.id };
}

/** As if they had not all been begun within a minute. */
async function spreadOverDays(database: Database, threads: readonly string[]): Promise<void> {
  for (const [at, id] of threads.entries())
    await database.query("update threads set created_at = now() - make_interval(hours => $2) where id = $1", [
      id,
      (threads.length - at) * 7,
    ]);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50)))
    if (await holds()) return;
  throw new Error("It never came to that.");
}
