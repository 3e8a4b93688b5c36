import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { password, serveAccounts } from "../../../../test/accounts.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../../../test/browser.ts";
import { freshDataDirectory } from "../../../../test/pglite.ts";
import type { Database } from "../../../store/driver/database.ts";
import { openDatabase } from "../../../store/driver/open.ts";
import type { SignupRule } from "../../../people/accounts.ts";

describe("entry pages", { skip: skipBrowser }, () => {
  let database: Database;
  let browser: OpenBrowser;
  const servers = new Map<SignupRule, Awaited<ReturnType<typeof serveAccounts>>>();
  before(async () => {
    database = await openDatabase({ dataDirectory: await freshDataDirectory() });
    for (const signup of ["open", "invite", "closed"] as const)
      servers.set(signup, await serveAccounts(database, { signup }));
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    for (const server of servers.values()) await server.close();
    await database.close();
  });
  const openPage = (signup: SignupRule, path: string) => browser.open(servers.get(signup)!.url + path);

  test("with open sign-up, the login page leads to a form that makes an account", async () => {
    const page = await openPage("open", "/login");
    await page.getByRole("link", { name: "Create an account" }).click();
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    assert.equal(await page.getByRole("alert").textContent(), "", "nothing was typed yet");
    assert.deepEqual(await violationsOf(page), []);
    await page.getByLabel("Name").fill("newcomer");
    await page.getByLabel("Password").fill(password);
    const made = page.waitForResponse(/api\/auth\/signup/);
    await page.getByRole("button", { name: "Create account" }).click();
    assert.equal((await made).status(), 201);
  });

  for (const path of ["/reset", "/setup"])
    test(`a link to ${path} that lacks its end says so, and has nothing to fill in; the whole one has`, async () => {
      const page = await openPage("open", path);
      await page.getByRole("alert").getByText("This link is incomplete.").waitFor();
      assert.equal(await page.locator("input:visible, button:visible").count(), 0);
      assert.deepEqual(await violationsOf(page), []);
      await page.evaluate(`location.hash = "something"`);
      await page.getByRole("button").waitFor();
      assert.equal(await page.getByRole("alert").textContent(), "");
    });

  test("the sign-up page leads back to the login page", async () => {
    const page = await openPage("open", "/signup");
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
  });

  for (const signup of ["invite", "closed"] as const)
    test(`with sign-up "${signup}", the login page has no link to it and says who gives accounts`, async () => {
      const page = await openPage(signup, "/login");
      await page.getByRole("button", { name: "Log in" }).waitFor();
      assert.equal(await page.getByRole("link", { name: "Create an account" }).count(), 0);
      await page.getByText("Ask an admin of this server for one.").waitFor();
    });

  for (const [signup, says] of [
    ["invite", "To create an account, open the invitation link you were sent."],
    ["closed", "This server doesn't accept new accounts. Ask an admin for one."],
  ] as const)
    test(`with sign-up "${signup}" and no invitation, the sign-up page says so and shows no error`, async () => {
      const page = await openPage(signup, "/signup");
      await page.getByText(says).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0, "no error and no form");
      assert.equal(await page.getByRole("button").count(), 0);
      assert.deepEqual(await violationsOf(page), []);
    });

  test("with an invitation, the sign-up page shows its form", async () => {
    const page = await openPage("invite", "/signup#an-invitation");
    await page.getByRole("button", { name: "Create account" }).waitFor();
    assert.equal(await page.getByText("open the invitation link").isVisible(), false);
  });

  test("a reset link without its secret is told as an error", async () => {
    const page = await openPage("open", "/reset");
    await page.getByRole("alert").getByText("This link is incomplete").waitFor();
  });
});
