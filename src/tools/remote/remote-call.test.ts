import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Manner, type RudePartner, startRudePartner } from "../../../test/rude-partner.ts";
import { testContext } from "../../../test/mcp-servers.ts";
import { createGuardedFetch, type GuardedFetch } from "../../egress/guarded-fetch.ts";
import { callRemote } from "./remote-call.ts";

let partner: RudePartner;
let web: GuardedFetch;
before(async () => {
  partner = await startRudePartner();
  web = createGuardedFetch({ origins: [partner.url] });
});
after(async () => {
  await web.close();
  await partner.close();
});

async function called(manner: Manner, scope: "remote" | "sandbox" = "remote", effect: "read" | "write" = "write") {
  partner.behave(manner);
  const server = { origin: partner.url, headers: {}, web, grantRelay: () => undefined, onLost: () => {} };
  const { isError, uncertain } = await callRemote(
    server,
    { name: "send", effect, scope },
    { input: {}, context: testContext },
  );
  return { isError, uncertain };
}

test("what may have been done is in doubt, whatever was said of it", async () => {
  for (const manner of ["reset", "nonsense", "half", "broken", "busy", "throttling", "impatient"] as const) {
    assert.deepEqual(await called(manner), { isError: true, uncertain: true }, manner);
    assert.equal(partner.effects.length, 1);
    assert.deepEqual(await called(manner, "sandbox"), { isError: true, uncertain: undefined }, manner);
    assert.deepEqual(await called(manner, "remote", "read"), { isError: true, uncertain: undefined }, manner);
  }
});

test("a refusal is an outcome", async () => {
  assert.deepEqual(await called("refusing"), { isError: true, uncertain: undefined });
});
