import { globSync, readFileSync } from "node:fs";

/**
 * Every transaction of the code: what it keeps locked between its statements, that is for up to ten seconds after its node
 * vanished, and what shows that others go on. `vanish`: test/vanished-node.long.test.ts has a case of that name.
 */
export type TransactionRow = {
  readonly locks: string;
  readonly proof: { readonly vanish: string } | { readonly since: string };
};

const vanish = (locks: string, name: string): TransactionRow => ({ locks, proof: { vanish: name } });
const since = (locks: string, reason: string): TransactionRow => ({ locks, proof: { since: reason } });

const itself = "nobody works with that but whoever sent this";
const atStart = "only nodes that start wait for it, and a minute at most";
const documents = "runs read documents without a lock; a reader that waits tries again";
const account = "no run waits for it: a key to an account is checked under a weaker lock";

/** By the file, in the order in which they stand there. */
export const transactions: Readonly<Record<string, readonly TransactionRow[]>> = {
  "src/app/accounts.ts": [since("the link of the set-up", account)],
  "src/knowledge/documents/collections.ts": [
    since("a document and its chunks", documents),
    since("a collection that is going", documents),
    since("a collection and its documents", documents),
  ],
  "src/knowledge/documents/documents.ts": [
    since("a collection, its owner's row against others that bring something", account),
    since("the owner's row against others that bring something", account),
    since("a document and its chunks", documents),
  ],
  "src/knowledge/documents/ingest.ts": [
    since("a document and its chunks", documents),
    since("a document, shared", documents),
    since("the owner's row against others that bring something, a document", account),
  ],
  "src/people/accounts.ts": [
    since("a new account", account),
    since("a new account and its invitation", account),
    since("an account's row", account),
    since("an account's row and its link", account),
  ],
  "src/people/log-in-by-oidc.ts": [since("an account's row", account)],
  "src/people/erasures.ts": [since("the rows of admins, weakly", account)],
  "src/people/local-logins.ts": [since("the link that a browser comes in by", account)],
  "src/run/background/schedules.ts": [
    since("a new schedule", itself),
    since("a schedule", "its next time comes anyway"),
    since("a schedule", "its next time comes anyway"),
    since("a schedule's entry in the timetable", "its next time comes anyway"),
    since("a schedule", "its next time comes anyway"),
  ],
  "src/run/background/sweep.ts": [
    since("a tree of runs", "as `cancel`, by the same functions"),
    since("threads that nobody uses any more", itself),
  ],
  "src/run/lifecycle/cancel.ts": [vanish("a run's row and its root's", "cancel")],
  "src/run/lifecycle/message-queue.ts": [vanish("a thread", "queue"), vanish("a thread, its next message", "next")],
  "src/run/threads/branches.ts": [
    since("a thread without a live run", itself),
    since("a thread without a live run", itself),
  ],
  "src/run/threads/edit-message.ts": [since("a thread without a live run", itself)],
  "src/run/threads/erase-person.ts": [
    since("a run's row and its root's", "as `cancel`, by the same functions"),
    since("a thread", "as `queue`"),
  ],
  "src/run/threads/fork.ts": [since("a new thread", itself)],
  "src/run/threads/kept-conversations.ts": [
    since("a thread without a live run", itself),
    since("a thread without a live run", itself),
  ],
  "src/run/threads/placed-threads.ts": [
    since("threads that are archived, and what a person makes of threads", "as `queue`"),
  ],
  "src/run/threads/remove-threads.ts": [since("threads without a live run", itself)],
  "src/run/threads/temporary-threads.ts": [since("a thread without a live run", itself)],
  "src/run/threads/threads.ts": [since("a thread without a live run", itself)],
  "src/run/turn/wait.ts": [
    vanish("a run's row, its root's, its thread", "end"),
    vanish("a run's row, its root's, its thread", "wait"),
  ],
  "src/run/turn/run-calls.ts": [
    vanish("what a tool of ours writes, then the run's row, a root's budget, its thread", "local write"),
  ],
  "src/run/verbs/bring-results.ts": [since("a run's row and its thread", "as `decide`, by the same functions")],
  "src/run/verbs/decide.ts": [vanish("a run's row, its root's, its thread", "decide")],
  "src/run/verbs/resolve-write.ts": [since("a run that has ended, its thread", "as `decide`, by the same functions")],
  "src/run/verbs/resume-run.ts": [
    since("a run that has ended, its thread", "as `decide` and `queue`, by the same locks"),
  ],
  "src/run/verbs/steer.ts": [vanish("a run's row, its thread", "steer")],
  "src/store/definitions.ts": [since("all definitions, against others who write one", "who reads does not wait")],
  "src/store/folders.ts": [since("a person's folders", itself), since("a person's folders", itself)],
  "src/store/installation/data-folder.ts": [since("the proof of the data directory", atStart)],
  "src/store/knowledge/indexes.ts": [
    since("an extension that is installed", documents),
    since("the makers of indexes", documents),
    since("the makers of indexes", documents),
    since("the makers of indexes, vectors", documents),
    since("the makers of indexes", documents),
  ],
  "src/store/knowledge/search.ts": [since("nothing: it sets how it searches", itself)],
  "src/store/knowledge/uploads.ts": [since("the owner's row against others that bring something", account)],
  "src/store/metering/usage-rollups.ts": [since("what is counted, against others that count", itself)],
  "src/store/moving/export.ts": [since("nothing: it reads", itself)],
  "src/store/moving/import.ts": [
    since("rows of an empty database", "no node works on it"),
    since("rows of an empty database", "no node works on it"),
  ],
  "src/store/people/user-admin.ts": [since("a new account", account), since("the rows of admins, weakly", account)],
  "src/store/privacy/erasures.ts": [since("an account that is going", "its runs have ended before")],
  "src/store/privacy/retention.ts": [since("the round's own row", itself)],
  "src/store/schema/migrate.ts": [since("the migrations", atStart)],
  "src/store/tasks/task-list.ts": [
    since("a task", "a tool that needs the same task fails and is asked again"),
    since("a task", "a tool that needs the same task fails and is asked again"),
  ],
  "src/tools/basic/task-calls.ts": [
    since("a task", "a tool that needs the same task fails and is asked again"),
    since("a task and the key of a call", "a tool that needs the same task fails and is asked again"),
  ],
};

/** How many there are in each file; those that only pass a transaction on are none. */
export function countTransactions(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const file of globSync("src/**/*.ts", { cwd: `${import.meta.dirname}/..` }).sort()) {
    if (/\.test\.ts$|^src\/store\/driver\//.test(file)) continue;
    const text = readFileSync(`${import.meta.dirname}/../${file}`, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    const found = [...text.matchAll(/(?<!["'\w])transaction\(/g)].length;
    if (found > 0) counts[file] = found;
  }
  return counts;
}
