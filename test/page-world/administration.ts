import { createBudgetClient } from "../../src/client/budgets.ts";
import { createGroupClient } from "../../src/client/groups.ts";
import { createRetentionClient } from "../../src/client/retention.ts";
import type { ServerAccess } from "../../src/client/request.ts";
import type { UserClient } from "../../src/client/users.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import type { Database } from "../../src/store/driver/database.ts";

const dayMs = 24 * 60 * 60_000;

/** Groups, budgets, invitations, keys, an erased person, and a month in which models were used. */
export async function fillAdministration(given: {
  readonly server: ServerAccess;
  readonly people: UserClient;
  readonly database: Database;
}): Promise<void> {
  const { server, people, database } = given;
  const groups = createGroupClient(server);
  await groups.save("shop", ["agent:roaster", "agent:scout", "model:small", "collection:*"]);
  await groups.save("roastery", ["agent:*", "model:*", "tool:*"]);
  const all = await people.list();
  const idOf = (name: string) => all.find((user) => user.name === name)!.id;
  await groups.addMember("shop", idOf("chloe"));
  await groups.addMember("roastery", idOf("ben"));
  await groups.invite({ role: "user", groups: ["shop"], days: 7 });
  await people.addKey(idOf("ben"), { label: "laptop", scopes: ["*"] });
  const { key } = await people.addKey(idOf("ben"), { label: "old phone", scopes: ["*"] });
  await people.revokeKey(key.id);
  const budgets = createBudgetClient(server);
  await budgets.set({ period: "month", tokens: 2_000_000, onLimit: "wait" });
  await budgets.set({ group: "shop", period: "month", cost: 20, onLimit: "refuse" });
  await budgets.set({ user: idOf("ada"), period: "day", requests: 60, warnAt: 0.5, onLimit: "warn" });
  await createRetentionClient(server).set("threads", 730);
  const { user: gone } = await people.add({ name: "intern", role: "user" });
  const { id } = await people.erase(gone.id, "intern");
  while ((await people.erasure(id)).doneAt === null) await new Promise((go) => setTimeout(go, 50));
  await useModels(database, [idOf("ada"), idOf("ben"), idOf("chloe")]);
}

/** Less on Sundays, more in the last week; one bad day of the large model. */
async function useModels(database: Database, users: readonly string[]): Promise<void> {
  for (let day = 1; day <= 29; day++) {
    const at = new Date(Date.now() - day * dayMs);
    const isSunday = at.getUTCDay() === 0;
    for (const [model, share] of [
      ["large", 1],
      ["small", 0.6],
    ] as const) {
      const isBad = model === "large" && day === 9;
      const calls = Math.round((isSunday ? 6 : 34 + ((day * 13) % 11) - day * 0.5) * share);
      await database.query(
        `insert into model_calls
           (id, user_id, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, error)
         select id, $2, $3, $3, 'openai', $4::timestamptz - make_interval(mins => n::int * 11), $5::int + n * 9 % 160, $6::int + n * 37 % 900,
                1800 + n * 90, 240 + n * 11, $7, case when $8 and n % 4 = 0 then 'overloaded' end
         from unnest($1::uuid[]) with ordinality as given (id, n)`,
        [
          Array.from({ length: calls }, () => newId()),
          users[day % users.length],
          model,
          at,
          isBad ? 900 : model === "large" ? 320 : 140,
          isBad ? 5200 : model === "large" ? 2100 : 900,
          model === "large" ? 0.0021 : 0.0003,
          isBad,
        ],
      );
    }
  }
}
