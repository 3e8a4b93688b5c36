import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { type PeopleServing, servePeople } from "../../test/serve-people.ts";

describe("a conversation that is shared by a link, with accounts", { skip: skipBrowser }, () => {
  let server: PeopleServing;
  let browser: OpenBrowser;
  let ada: Page;
  let stranger: Page;
  let link = "";
  before(async () => {
    browser = await openBrowser();
    server = await servePeople({ browser, people: ["ada", "ben"] });
    ada = await server.tabOf("ada", "/", { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const said = (page: Page) => page.getByRole("article");
  const say = async (text: string, answer: string) => {
    server.model.answer({ calls: [{ name: "calculate", arguments: { expression: "6*7" } }] }, { text: answer });
    await ada.getByRole("textbox", { name: "Message" }).fill(text);
    await ada.keyboard.press("Enter");
    await ada.getByRole("log").getByText(answer).waitFor();
    await ada.locator("[role=log][aria-busy=false]").waitFor();
  };
  const share = async () => {
    await ada.getByRole("main").getByRole("button", { name: "More options" }).click();
    await ada.getByRole("menuitem", { name: "Share…" }).click();
    return ada.getByRole("dialog", { name: "Share a link" });
  };

  test("is read without a login: what was said until then, not what tools did, and nothing else of the server", async () => {
    await say("What is 6*7?", "It is 42.");
    const dialog = await share();
    await dialog.getByRole("button", { name: "Create link" }).click();
    link = await dialog.locator("code").innerText();
    await ada.keyboard.press("Escape");
    await say("And this stays mine?", "Only yours.");

    stranger = await browser.open(link, { viewport: { width: 1200, height: 800 } });
    await said(stranger).filter({ hasText: "What is 6*7?" }).waitFor();
    await said(stranger).filter({ hasText: "It is 42." }).waitFor();
    assert.equal(stranger.url(), link);
    assert.equal(await said(stranger).count(), 2);
    const text = await stranger.locator("body").innerText();
    assert.doesNotMatch(text, /calculate|mine|New conversation|Administration/);
    assert.equal(await stranger.getByRole("textbox").count(), 0);
    assert.equal(await stranger.getByRole("navigation").count(), 0);
    assert.match(await stranger.title(), /^What is 6\*7/);
    await pictureOf(stranger, "shared");
    assert.deepEqual(await violationsOf(stranger), []);
    const ben = await server.tabOf("ben", new URL(link).pathname);
    await said(ben).filter({ hasText: "It is 42." }).waitFor();
    await ben.close();
  });

  test("whoever reads it is asked to log in for all else", async () => {
    const { origin } = new URL(link);
    await stranger.goto(origin);
    await stranger.getByRole("heading", { name: "Log in" }).waitFor();
    await stranger.goto(link);
    await said(stranger).first().waitFor();
  });

  test("withdrawn, it is read no more", async () => {
    const dialog = await share();
    await dialog.getByRole("button", { name: /^Revoke/ }).click();
    await dialog.getByText("No links yet").waitFor();
    await stranger.reload();
    await stranger.getByText("Link not found. It was revoked or has expired.").waitFor();
    assert.equal(await said(stranger).count(), 0);
    await pictureOf(stranger, "shared withdrawn");
    assert.deepEqual(await violationsOf(stranger), []);
  });

  test("is not read while the account of whoever shared it is disabled", async () => {
    await ada.keyboard.press("Escape");
    const dialog = await share();
    await dialog.getByRole("button", { name: "Create link" }).click();
    link = await dialog.locator("code").innerText();
    await stranger.goto(link);
    await said(stranger).first().waitFor();
    const root = server.clientOf("root");
    const { id } = (await root.users.list()).find(({ name }) => name === "ada")!;
    await root.users.change(id, { disabled: true });
    await stranger.reload();
    await stranger.getByText("Link not found.").waitFor();
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 40[14]/.test(text)),
      [],
    );
  });
});
