import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createRandom } from "../../chaos/random.ts";
import { letNothingOut } from "../../test/no-way-out.ts";
import { carriersOf, isPublic, numberOf, oddFormsOf, specialBlocks, textOf } from "../../test/special-addresses.ts";
import { addressesOf, lookupOf } from "./addresses.ts";
import { openAllowProxy, allowedHosts } from "./allow-proxy.ts";

import { createGuardedFetch } from "./guarded-fetch.ts";
import { guardedRequest } from "./guarded-request.ts";

const families = [4, 6] as const;
const publicFour = "93.184.216.34";
const publicSix = "2606:2800:220:1:248:1893:25c8:1946";

/** A resolver that has one answer. */
function saying(...addresses: string[]) {
  return async () => addresses.map((address) => ({ address, family: isIP(address) || 4 }));
}

function unasked(): Promise<never> {
  throw new Error("an address is not looked up");
}

async function assertRefused(address: string, shown: string): Promise<void> {
  const code = "address_refused";
  await assert.rejects(addressesOf(address, { allow: [], resolve: unasked }), { code }, `${shown}: ${address}`);
  const resolve = saying(address);
  await assert.rejects(addressesOf("name.test", { allow: [], resolve }), { code }, `${shown}: a name for ${address}`);
}

/** First, last and middle of each special-purpose range. */
const specialAddresses = specialBlocks.flatMap(({ first, last, family, range, name }) =>
  [...new Set([first, (first + last) / 2n, last])].map((address) => ({ address, family, shown: `${range}, ${name}` })),
);

for (const family of families)
  test(`egress: public IPv${family} addresses are allowed`, async (context) => {
    const seed = Number(process.env["COLLOQUY_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
    context.diagnostic(`COLLOQUY_TEST_SEED=${seed}`);
    const { next } = createRandom(seed);
    const word = () => BigInt(Math.floor(next() * 2 ** 32));
    for (let count = 0; count < 2000;) {
      const number =
        family === 4 ? word() : (1n << 125n) | (((word() << 96n) | (word() << 64n) | (word() << 32n) | word()) >> 3n);
      if (!isPublic(number, family)) continue;
      count++;
      const address = textOf(number, family);
      assert.deepEqual(await addressesOf(address, { allow: [] }), [{ address, family }], address);
    }
  });

test("egress: right before and behind a special range lies the public internet", async () => {
  const beside = specialBlocks.flatMap(({ first, last, family }) =>
    [first - 1n, last + 1n].filter((number) => isPublic(number, family)).map((number) => textOf(number, family)),
  );
  assert.ok(beside.length >= 40, `${beside.length} addresses`);
  for (const address of beside)
    assert.deepEqual(await addressesOf(address, { allow: [] }), [{ address, family: isIP(address) }], address);
});

for (const family of families)
  test(`egress: every special-purpose IPv${family} range is refused`, async () => {
    const own = specialAddresses.filter((special) => special.family === family);
    assert.ok(own.length >= 60, `${own.length} addresses`);
    for (const { address, shown } of own) await assertRefused(textOf(address, family), shown);
  });

test("egress: an IPv4 address within an IPv6 address is refused", async () => {
  const fours = specialAddresses.filter(({ family }) => family === 4);
  // Not of public ones either: what is meant by them is told by the IPv4 address itself.
  for (const { address, shown } of [...fours, { address: numberOf(publicFour), shown: "public" }])
    for (const [way, carrier] of Object.entries(carriersOf(address))) await assertRefused(carrier, `${shown}, ${way}`);
  for (const text of ["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::10.0.0.1"])
    await assertRefused(text, "with dots");
});

test("egress: odd forms of an IPv4 address in a URL are refused", async (context) => {
  const tried = letNothingOut(context);
  const fours = specialAddresses.filter(({ family }) => family === 4);
  for (const { address, shown } of fours)
    for (const [form, host] of Object.entries(oddFormsOf(address)))
      await assert.rejects(
        guardedRequest(`http://${host}/`, { resolve: unasked }),
        { code: "address_refused" },
        `${shown}, ${form}: ${host}`,
      );
  assert.deepEqual([...tried], []);
});

test("egress: an address with a zone is refused, and is no host of a URL", async () => {
  for (const address of [
    "fe80::1%eth0",
    "fe80::1%1",
    "::1%lo",
    "::ffff:127.0.0.1%lo",
    "ff02::1%eth0",
    "fd00::1%eth0",
  ]) {
    await assertRefused(address, "with a zone");
    for (const host of [`[${address}]`, `[${address.replace("%", "%25")}]`])
      await assert.rejects(guardedRequest(`http://${host}/`), { code: "url_refused" }, host);
  }
});

test("egress: what a resolver gives that is no address, or calls another family, is refused", async () => {
  const answers = [
    { address: "2130706433", family: 4 },
    { address: "127.1", family: 4 },
    { address: "", family: 4 },
    { address: "10.0.0.1", family: 6 },
    { address: "::1", family: 4 },
    { address: "fd00::1", family: 0 },
  ];
  for (const answer of answers) {
    const resolve = async () => [answer];
    await assert.rejects(
      addressesOf("odd.test", { allow: [], resolve }),
      { code: "address_refused" },
      JSON.stringify(answer),
    );
  }
});

test("egress: a name with one private address among public ones is refused", async () => {
  for (const bad of ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1", "fe80::1%eth0"])
    for (const addresses of [
      [bad, publicFour, publicSix],
      [publicFour, bad, publicSix],
      [publicFour, publicSix, bad],
      [publicSix, bad],
    ])
      await assert.rejects(
        addressesOf("mixed.test", { allow: [], resolve: saying(...addresses) }),
        { code: "address_refused" },
        addresses.join(", "),
      );
});

test("egress: an allowed range opens its own family alone", async () => {
  await addressesOf("10.1.2.3", { allow: ["10.1.0.0/16"] });
  await addressesOf("fd00::1", { allow: ["fd00::/8"] });
  for (const [address, allow] of [
    ["10.1.2.3", "::/0"],
    ["127.0.0.1", "::ffff:0:0/96"],
    ["::1", "0.0.0.0/0"],
    ["::ffff:10.1.2.3", "10.1.0.0/16"],
  ] as const)
    await assert.rejects(
      addressesOf(address, { allow: [allow] }),
      { code: "address_refused" },
      `${address} in ${allow}`,
    );
  await assert.rejects(addressesOf("fd00::2", { allow: ["fd00::1"] }), { code: "address_refused" });
  assert.ok(!allowedHosts(["::/0"]).has("10.0.0.1", 443));
  assert.ok(allowedHosts(["::/0"]).has("fd00::1", 443));
});

test("egress: what is never asked is refused, allowed or not, and nothing else", async () => {
  const rules = { allow: ["10.0.0.0/8"], refuse: (address: string) => address === "10.0.0.1" };
  await assert.rejects(addressesOf("10.0.0.1", rules), { code: "address_refused" });
  assert.deepEqual(await addressesOf("10.0.0.2", rules), [{ address: "10.0.0.2", family: 4 }]);
});

test("egress: a refusal says how to allow it, where the caller knows", async () => {
  const told = "10.0.0.1 is not on the public internet, so it is not asked.";
  await assert.rejects(addressesOf("10.0.0.1", { allow: [] }), { message: told });
  await assert.rejects(addressesOf("10.0.0.1", { allow: [], advice: "Name it." }), { message: `${told} Name it.` });
});

test("egress: a name that can't be resolved is unreachable", async () => {
  await assert.rejects(addressesOf("gone.test", { allow: [], resolve: unasked }), { code: "unreachable", status: 503 });
});

test("egress: a lookup answers with all addresses or with the first one", async () => {
  const addresses = [
    { address: publicFour, family: 4 },
    { address: publicSix, family: 6 },
  ];
  const answered = (all: boolean) =>
    new Promise((resolve) => lookupOf(addresses)("any.test", { all }, (...given) => resolve(given)));
  assert.deepEqual(await answered(true), [null, addresses]);
  assert.deepEqual(await answered(false), [null, publicFour, 4]);
});

/** What a name resolves to, and where a request to it goes on to connect; to none if it is refused. */
const ways = [
  { addresses: [publicFour], goesTo: [publicFour] },
  { addresses: [publicSix], goesTo: [publicSix] },
  { addresses: [publicFour, publicSix], goesTo: [publicFour, publicSix] },
  { addresses: [publicFour, "::1"], goesTo: [] },
  { addresses: [publicSix, "10.0.0.1"], goesTo: [] },
  { addresses: ["::ffff:7f00:1"], goesTo: [] },
];

for (const { addresses, goesTo } of ways) {
  const told = goesTo.length > 0 ? "is connected to" : "is refused";
  const resolve = saying(...addresses);

  test(`egress: a guarded request to a name with ${addresses.join(" and ")} ${told}`, async (context) => {
    const tried = letNothingOut(context);
    const status = goesTo.length > 0 ? 503 : 400;
    for (const scheme of ["http", "https"])
      await assert.rejects(guardedRequest(`${scheme}://site.test/`, { resolve }), { status });
    assert.deepEqual([...tried], goesTo);
  });

  test(`egress: a guarded fetch of another origin with ${addresses.join(" and ")} ${told}`, async (context) => {
    const tried = letNothingOut(context);
    const { fetch, close } = createGuardedFetch({ origins: ["https://idp.test"], resolve });
    context.after(close);
    const status = goesTo.length > 0 ? 503 : 400;
    for (const scheme of ["http", "https"])
      await assert.rejects(fetch(`${scheme}://token.test/`, { method: "POST", body: "code" }), { status });
    assert.deepEqual([...tried], goesTo);
  });

  test(`egress: the sandbox's proxy to a listed name with ${addresses.join(" and ")} ${told}`, async (context) => {
    const tried = letNothingOut(context);
    const socketPath = await openProxy(context, ["site.test"], resolve);
    for (const { method, path } of [
      { method: "GET", path: "http://site.test/" },
      { method: "CONNECT", path: "site.test:443" },
    ])
      assert.equal(await statusOf(socketPath, { method, path }), goesTo.length > 0 ? 502 : 403, method);
    assert.deepEqual([...tried], goesTo);
  });
}

test("egress: an address in a URL is checked by a guarded fetch and by the sandbox's proxy", async (context) => {
  const tried = letNothingOut(context);
  const { fetch, close } = createGuardedFetch({ origins: [] });
  context.after(close);
  const socketPath = await openProxy(context, [publicFour, publicSix, "name.test"]);
  for (const host of [publicFour, `[${publicSix}]`]) {
    await assert.rejects(fetch(`http://${host}/`), { status: 503 }, host);
    assert.equal(await statusOf(socketPath, { method: "CONNECT", path: `${host}:443` }), 502, host);
  }
  assert.deepEqual([...tried], [publicFour, publicSix]);
  tried.clear();
  const loopback = Object.values({ ...oddFormsOf(numberOf("127.0.0.1")), plain: "127.0.0.1" });
  const carriers = Object.values(carriersOf(numberOf("127.0.0.1"))).map((address) => `[${address}]`);
  for (const host of [...loopback, ...carriers]) {
    await assert.rejects(fetch(`http://${host}/`), { code: "address_refused" }, host);
    const path = `http://${encodeURI(host)}/`.replaceAll("%5B", "[").replaceAll("%5D", "]");
    assert.equal(await statusOf(socketPath, { method: "GET", path }), 403, host);
  }
  assert.deepEqual([...tried], []);
});

async function openProxy(context: TestContext, allow: string[], resolve = unasked as ReturnType<typeof saying>) {
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  const { socket, close } = await openAllowProxy({ allow, resolve, socket: join(folder, "proxy.sock") });
  context.after(async () => {
    await close();
    await rm(folder, { recursive: true });
  });
  return socket;
}

async function statusOf(
  socketPath: string,
  { method, path }: { readonly method: string; readonly path: string },
): Promise<number> {
  const asked = request({ socketPath, method, path }).end();
  const [answer] = (await once(asked, method === "CONNECT" ? "connect" : "response")) as [IncomingMessage];
  asked.destroy();
  return answer.statusCode!;
}
