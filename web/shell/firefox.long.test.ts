import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type PageServing, servePage, skipBrowser } from "../../test/browser.ts";
import { type FirefoxTab, type OpenFirefox, openFirefox, skipFirefox } from "../../test/firefox.ts";
import { until } from "../../test/run-suite.ts";
import { type StreamGateway, startStreamGateway } from "../../test/stream-gateway.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];

describe("in Firefox", { skip: skipBrowser || skipFirefox }, () => {
  let server: PageServing;
  let gateway: StreamGateway;
  let firefox: OpenFirefox;
  let tab: FirefoxTab;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "nothing more to say");
    gateway = await startStreamGateway(server.url);
    firefox = await openFirefox();
    tab = await firefox.open(gateway.url);
  });
  after(async () => {
    await firefox.close();
    await gateway.close();
    await server.close();
  });

  const says = (text: string) => `document.querySelector("[role=log]")?.innerText.includes(${JSON.stringify(text)})`;
  const hasFocus = `document.activeElement === document.querySelector("[data-composer]")`;

  test("one asks by the keyboard, and another tab hears the answer as it comes, over the one stream", async () => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answers = [
      [
        { text: "## A list\n\n- one\n" },
        { gate: () => begun.promise },
        { text: "- two\n" },
        { gate: () => ended.promise },
        { text: "- three" },
      ],
    ];
    await tab.until(hasFocus);
    await tab.type("What comes first?");
    await tab.press("Enter");
    await tab.until(says("one"));
    const other = await firefox.open(await tab.evaluate<string>("location.href"));
    await other.until(says("one"));
    begun.resolve();
    for (const each of [tab, other]) await each.until(says("two"));
    ended.resolve();
    for (const each of [tab, other]) {
      await each.until(`document.querySelector("[role=log]")?.ariaBusy === "false"`);
      assert.equal(await each.evaluate(`document.querySelectorAll("[role=log] li").length`), 3);
    }
  });

  test("ten tabs that come and go share one stream, and each loads", async () => {
    const url = await tab.evaluate<string>("location.href");
    const tabs: FirefoxTab[] = [];
    for (let count = 0; count < 10; count++) {
      const next = await firefox.open(url);
      await next.until(says("three"));
      tabs.push(next);
      if (count % 3 === 2) await tabs.shift()!.close();
    }
    await until(() => gateway.open() === 1);
    assert.ok(gateway.begun() > 10, "each that came or went made a new one");
  });

  test("what is typed and what was said are there after a reload", async () => {
    await tab.until(hasFocus);
    await tab.type("half a thought");
    await tab.reload();
    await tab.until(`document.querySelector("[data-composer]")?.value === "half a thought"`);
    await tab.until(says("three"));
  });

  test("menus, the palette and other views work by keys", async () => {
    await tab.press("Control", "k");
    await tab.until(`document.activeElement.matches("dialog [role=combobox]")`);
    await tab.type("tasks");
    await tab.until(`document.querySelector("[role=option]")?.textContent.includes("Tasks")`);
    await tab.press("Enter");
    await tab.until(`location.pathname === "/tasks"`);
    for (const path of ["/runs", "/settings", "/admin", "/rooms", "/schedules"]) {
      const view = await firefox.open(gateway.url + path);
      await view.until(`document.querySelector("#main :is(h1, h2, table, form)")`);
      assert.ok(!(await view.evaluate<string>("document.body.innerText")).includes("Something went wrong"), path);
      const [wide, inner] = await view.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
      assert.ok(wide <= inner, `${path} is ${wide} px wide`);
    }
  });

  test("complains of nothing", () => assert.deepEqual(firefox.complaints, []));
});
