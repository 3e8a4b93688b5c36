import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { accountServices, asker } from "../../../test/accounts.ts";
import { anyDatabase } from "../../../test/databases.ts";
import { serve, servicesWith, type Serving } from "../../../test/serve.ts";
import { createModels } from "../../models/registry.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { shareCounts } from "../../store/metering/shared-counts.ts";
import { networkOf } from "../../people/network.ts";

anyDatabase(({ kind, place }) => {
  if (kind === "pglite") return;
  test("two nodes of one database count together, and whoever asks both gets no more than from one", async (t) => {
    const closing: (() => Promise<unknown>)[] = [];
    t.after(async () => {
      for (const close of closing.reverse()) await close();
    });
    const where = await place();
    const heard = new EventTarget();
    const nodes = [];
    for (const name of ["one", "two"]) {
      const database = await openDatabase(where);
      closing.push(database.close);
      if (name === "one") await migrate(database);
      const sharedCounts = (await shareCounts(database, silentLog))!;
      closing.push(sharedCounts.close);
      const server: Serving = await serve(
        servicesWith({
          models: createModels({ models: [] }),
          ...(await accountServices(database)),
          server: { corsOrigins: [], graceMs: 1000, requestsPerMinute: 5, sharedCounts },
        }),
      );
      closing.push(server.close);
      sharedCounts.hear((_key, count) => heard.dispatchEvent(new CustomEvent(name, { detail: count })));
      let trips = 0;
      database.onTrip = () => trips++;
      nodes.push({ ask: asker(server.url), trips: () => trips });
    }
    const [one, two] = nodes as [(typeof nodes)[number], (typeof nodes)[number]];
    const told = once(heard, "two");
    for (let count = 0; count < 3; count++) assert.equal((await one.ask("GET", "/health")).status, 200);
    await told;
    // They may have been told in two pieces.
    const left = async () => Number((await two.ask("GET", "/health")).headers.get("ratelimit-remaining"));
    assert.ok((await left()) <= 3);
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await two.ask("GET", "/health")).status);
    assert.equal(statuses.at(-1), 429);
    assert.ok(one.trips() <= 3, `${one.trips()} round trips`);
  });
});

test("addresses of one IPv6 network are one, as are those of IPv4 however they are written", () => {
  assert.equal(networkOf("192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:0db8:1:2::9"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:db8::9"), "2001:db8:0:0::/64");
  assert.equal(networkOf("fe80::1%eth0"), "fe80:0:0:0::/64");
  assert.equal(networkOf("::1"), "0:0:0:0::/64");
});
