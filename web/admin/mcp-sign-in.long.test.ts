import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { type Protected, startProtected } from "../../test/authorization-server.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { type PeopleServing, servePeople } from "../../test/serve-people.ts";

describe("an MCP server to which each person signs in", { skip: skipBrowser }, () => {
  let mail: Protected;
  let server: PeopleServing;
  let browser: OpenBrowser;
  let root: Page;
  let ben: Page;
  before(async () => {
    browser = await openBrowser();
    [mail, server] = await Promise.all([startProtected(), servePeople({ browser, people: ["ben"] })]);
    const viewport = { width: 1280, height: 850 };
    root = await server.tabOf("root", "/admin/mcp-servers", { viewport });
    ben = await server.tabOf("ben", "/settings/access", { viewport });
  });
  after(async () => {
    await browser.close();
    await server.close();
    await mail.close();
  });

  /** Through the other tab, until one is told that one may close it. */
  async function signIn(page: Page, link: Locator, user: string): Promise<void> {
    mail.behaviour.user = user;
    const [other] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await other.getByText("You are signed in to mail. You may close this page.").waitFor();
    assert.equal(new URL(other.url()).port, new URL(server.url).port);
    assert.deepEqual(await violationsOf(other), []);
    await other.close();
  }
  const row = (page: Page) => page.getByRole("row").filter({ hasText: "mail" }).first();
  const findsNothing = async (page: Page, state: string) => {
    await pictureOf(page, `sign-in ${state}`);
    assert.deepEqual(await violationsOf(page), [], state);
  };

  test("an admin adds it; without a login it says where one signs in", async () => {
    await root.getByRole("button", { name: "Add an MCP server" }).click();
    const editor = root.getByRole("region", { name: "Add an MCP server" });
    await editor.getByLabel("Name", { exact: true }).fill("mail");
    await editor.getByRole("textbox", { name: "Address" }).fill(mail.url);
    await editor.getByText("Advanced (JSON)").click();
    await editor.locator("details textarea").fill(JSON.stringify({ auth: { type: "oauth", issuer: mail.issuer } }));
    await editor.getByRole("button", { name: "Save" }).click();
    await editor.waitFor({ state: "detached" });
    await root.getByRole("button", { name: "Connect: mail" }).click();
    await root.getByRole("link", { name: "Sign in (opens a new tab)" }).waitFor();
    await row(root).getByText("sign-in required").waitFor();
    await findsNothing(root, "wanted");
  });

  test("and signs in: the tools are there, those of that person", async () => {
    await root.getByRole("button", { name: "Sign in: mail" }).click();
    await signIn(root, root.getByRole("link", { name: /^Sign in at 127\.0\.0\.1.*\(opens a new tab\)/ }), "root");
    await root.getByRole("button", { name: "Connect: mail" }).click();
    await root.getByText("mail_letters_of_root").waitFor();
    await row(root).getByText("ready").waitFor();
    await findsNothing(root, "signed in");
  });

  test("for others it waits until they sign in, in their settings", async () => {
    await ben.reload();
    await row(ben).getByText("sign-in required").waitFor();
    await findsNothing(ben, "in the settings");
    await signIn(ben, row(ben).getByRole("link", { name: "Sign in: mail" }), "ben");
    await ben.getByRole("button", { name: "Refresh" }).click();
    await row(ben).getByText("ready").waitFor();
    await row(ben).getByText("1 tool").waitFor();
    assert.equal(mail.tokensOf("ben"), 2);
    server.model.answer({ calls: [{ name: "mail_letters_of_ben", arguments: {} }] }, { text: "You have letters." });
    await ben.goto(server.url);
    await ben.getByRole("textbox", { name: "Message" }).fill("any letters?");
    await ben.keyboard.press("Enter");
    await ben.getByRole("log").getByText("You have letters.").waitFor();
    await ben.getByRole("log").getByText("mail_letters_of_ben").click();
    await ben.getByRole("log").getByText("letters of ben").waitFor();
  });

  test("whoever signs out is signed out there too, and nobody else", async () => {
    await ben.goto(`${server.url}/settings/access`);
    await row(ben).getByRole("button", { name: "Sign out: mail" }).click();
    await row(ben).getByText("sign-in required").waitFor();
    assert.deepEqual([mail.tokensOf("ben"), mail.tokensOf("root")], [0, 2]);
    await root.getByRole("button", { name: "Sign out: mail" }).click();
    await row(root).getByText("sign-in required").waitFor();
    assert.equal(mail.tokensOf("root"), 0);
    assert.deepEqual(mail.faults, []);
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 40\d/.test(text)),
      [],
    );
  });
});
