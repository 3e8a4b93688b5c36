import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { minutes, planned, planningModel } from "../../test/taiga-agent.ts";
import { startTaiga, type Taiga } from "../../test/taiga/server.ts";
import type { Script } from "../../src/models/demo/scripted.ts";

/** A folder for a picture of each state, to look at. */
const shots = process.env["COLLOQUY_TEST_SHOTS"];
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

describe("Taiga on the page", { skip: skipBrowser }, () => {
  let taiga: Taiga;
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  let script: Script = planningModel;
  before(async () => {
    taiga = await startTaiga();
    server = await servePage(
      (...asked) => (script as Exclude<Script, readonly unknown[]>)(...asked),
      {},
      { taigaUrl: taiga.url },
    );
    browser = await openBrowser();
    page = await browser.open(`${server.url}/taiga`, phone);
  });
  beforeEach(() => {
    taiga.reset();
    script = planningModel;
  });
  after(async () => {
    await browser.close();
    await server.close();
    await taiga.close();
  });

  const looksRight = async (state: string, shown = page) => {
    assert.deepEqual(await violationsOf(shown), [], state);
    const { width } = shown.viewportSize()!;
    assert.equal(await shown.evaluate("document.documentElement.scrollWidth"), width, state);
    if (shots) await shown.screenshot({ path: `${shots}/taiga-${state.replaceAll(" ", "-")}.png` });
  };
  const signIn = async (shown = page, password = "bruno-password") => {
    await shown.getByRole("textbox", { name: "Name or e-mail" }).fill("bruno");
    await shown.getByLabel("Password").fill(password);
    await shown.getByRole("button", { name: "Sign in" }).click();
  };
  const propose = async (shown = page) => {
    await shown.getByRole("combobox", { name: "Project" }).selectOption("acme-app");
    await shown.getByRole("combobox", { name: "Sprint" }).selectOption("Sprint 6");
    await shown.getByRole("textbox", { name: "Minutes" }).fill(minutes);
    await shown.getByRole("button", { name: "Propose" }).click();
    await shown.getByRole("heading", { name: "Proposal: 3 stories, 9 tasks" }).waitFor();
  };

  test("one signs in through the server, and a refusal says why", async () => {
    await page.getByRole("heading", { name: "Sign in to Taiga" }).waitFor();
    await looksRight("sign-in");
    await signIn(page, "a guess");
    await page.getByRole("alert").getByText("No active account").waitFor();
    await looksRight("refused");
    await signIn();
    await page.getByText("Signed in to Taiga as bruno").waitFor();
    assert.doesNotMatch(page.url(), /bruno/);
  });

  test("minutes are typed or come from a file, and are kept over a reload", async () => {
    await page.getByRole("combobox", { name: "Project" }).selectOption("acme-app");
    await page.getByRole("combobox", { name: "Sprint" }).selectOption("Sprint 6");
    await page.getByRole("textbox", { name: "Minutes" }).fill("Typed first.");
    const file = { name: "minutes.md", mimeType: "text/markdown", buffer: Buffer.from("- from a file") };
    await page.locator("input[type=file]").setInputFiles(file);
    await untilTrue(page, "document.querySelector('textarea').value === 'Typed first.\\n\\n- from a file'");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("x") });
    await page.getByRole("alert").getByText("a.png is not a text file").waitFor();
    await looksRight("form");
    await page.reload();
    await page.getByRole("combobox", { name: "Sprint" }).and(page.locator(":enabled")).waitFor();
    assert.equal(await page.getByRole("textbox", { name: "Minutes" }).inputValue(), "Typed first.\n\n- from a file");
    assert.equal(await page.getByRole("combobox", { name: "Sprint" }).inputValue(), "Sprint 6");
  });

  test("the plan is changed, partly left out, and exactly that is made", async () => {
    await propose();
    assert.deepEqual(taiga.state.writes, []);
    await looksRight("plan");
    await page.getByRole("textbox", { name: "story: Export orders" }).fill("Export all orders");
    await page.getByRole("button", { name: "Add a description: story: Export orders" }).click();
    await page.getByRole("textbox", { name: "Description of Export orders" }).fill("CSV first");
    await page.getByRole("checkbox", { name: "Create: story: Remind of open invoices" }).uncheck();
    assert.equal(await page.getByRole("checkbox", { name: "Create: task: Send the mail" }).isChecked(), false);
    await page.getByRole("checkbox", { name: "Create: task: Empty result" }).uncheck();
    await looksRight("plan-changed");
    // What was changed is there after a reload.
    await page.reload();
    await page.getByRole("button", { name: "Create 2 stories, 5 tasks" }).click();
    await page.getByRole("heading", { name: "Created in Taiga: 7" }).waitFor();
    const story = taiga.state.story("Export all orders");
    assert.equal(story.description, "CSV first");
    assert.equal(Object.keys(taiga.state.counts()).length, 7);
    const link = page.getByRole("link", { name: `#${story.ref} Export all orders (opens Taiga)` });
    assert.equal(await link.getAttribute("href"), `${taiga.url}/project/acme-app/us/${story.ref}`);
    await looksRight("made");
  });

  test("what is written is followed, and a reload in the middle goes on", async () => {
    await page.getByRole("link", { name: "New proposal" }).click();
    await propose();
    const pause = taiga.pause({ method: "POST", path: "/tasks" }, { skip: 1 });
    await page.getByRole("button", { name: "Create 3 stories, 9 tasks" }).click();
    await page.getByRole("heading", { name: "Writing to Taiga: 4 of 12" }).waitFor();
    await page.getByText("in progress").waitFor();
    await looksRight("writing");
    await page.reload();
    await page.getByRole("heading", { name: "Writing to Taiga: 4 of 12" }).waitFor();
    pause.release();
    await page.getByRole("heading", { name: "Created in Taiga: 12" }).waitFor();
    assert.deepEqual(taiga.state.counts(), planned);
  });

  test("what fails says why, and the rest is proposed anew", async () => {
    await page.getByRole("link", { name: "New proposal" }).click();
    await propose();
    taiga.fail({ method: "POST", path: "/tasks" }, { kind: "error", status: 400 });
    await page.getByRole("button", { name: "Create 3 stories, 9 tasks" }).click();
    await page.getByRole("heading", { name: "Created in Taiga: 3 of 12" }).waitFor();
    await page.getByText("■ failed").waitFor();
    await looksRight("failed");
    await page.getByRole("button", { name: "Propose the rest" }).click();
    const asked = page.getByRole("textbox", { name: "Additional instructions" });
    await asked.waitFor();
    assert.match(await asked.inputValue(), /don't create them again:\n#\d+ Export orders/);
    assert.equal(await page.getByRole("textbox", { name: "Minutes" }).inputValue(), minutes);
  });

  test("nothing is made if nobody wants it; proposals of before are listed", async () => {
    await propose();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("Nothing was created.").waitFor();
    await page.getByRole("link", { name: "New proposal" }).click();
    await page.getByRole("heading", { name: "Recent proposals" }).waitFor();
    const runs = page.getByRole("listitem");
    assert.equal(await runs.count(), 4);
    await looksRight("recent");
    await runs.last().getByRole("link").click();
    await page.getByRole("heading", { name: "Created in Taiga: 7" }).waitFor();
    assert.deepEqual(taiga.state.writes, []);
  });

  test("an agent at work is stopped, and at a limit one goes on", async () => {
    await page.getByRole("link", { name: "New proposal" }).click();
    script = () => [{ text: "Let me think" }, { hang: true }];
    await page.getByRole("combobox", { name: "Sprint" }).selectOption("Sprint 6");
    await page.getByRole("textbox", { name: "Minutes" }).fill("Some minutes");
    await page.getByRole("button", { name: "Propose" }).click();
    await page.getByText("Let me think").waitFor();
    await looksRight("planning");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Propose again" }).click();
    let asked = 0;
    script = () =>
      ++asked <= 10
        ? [{ call: "taiga_list_user_stories", arguments: { search: `try ${asked}` } }, { finish: "calls" }]
        : "There is nothing to do.";
    await page.getByRole("button", { name: "Propose" }).click();
    const question = page.getByRole("region", { name: "needs your input" });
    await question.waitFor();
    await looksRight("limit");
    await question.getByRole("button", { name: "Continue" }).click();
    await page.getByText("There is nothing to do.").waitFor();
  });

  test("on a wide screen, in the dark, with a token, whose end is told", async () => {
    const wide = await browser.open(`${server.url}/taiga`, {
      viewport: { width: 1280, height: 800 },
      colorScheme: "dark",
    });
    await wide.getByRole("button", { name: "Use a token instead" }).click();
    await wide.getByLabel("Token").fill(`Application ${taiga.applicationTokenOf("sam")}`);
    await wide.getByRole("button", { name: "Sign in" }).click();
    await wide.getByText("Signed in to Taiga with a token").waitFor();
    await wide.getByRole("combobox", { name: "Project" }).selectOption("acme-app");
    await wide.getByText("You don't have permission to add user stories to this project.").waitFor();
    await looksRight("wide dark form", wide);
    await wide.getByRole("button", { name: "Sign out" }).click();
    await signIn(wide);
    await propose(wide);
    await looksRight("wide dark plan", wide);
    taiga.expireTokens();
    await wide.getByRole("link", { name: "New proposal" }).click();
    await wide.getByText("Taiga no longer accepts this login").waitFor();
    await looksRight("login over", wide);
    await wide.context().close();
  });

  test("without a Taiga the view says what to set", async () => {
    const shown = await browser.open(`${server.url}/tasks`, phone);
    await shown.route("**/api/taiga", (route) => route.fulfill({ json: { configured: false, needsToken: true } }));
    await shown.goto(`${server.url}/taiga`);
    await shown.getByText("No Taiga server is connected.").waitFor();
    await looksRight("not configured", shown);
    await shown.goto(`${server.url}/tasks`);
    await shown.getByRole("button", { name: "Show conversations" }).click();
    await shown.getByRole("link", { name: "Tasks" }).waitFor();
    assert.equal(await shown.getByRole("link", { name: "Taiga" }).count(), 0);
    await shown.context().close();
  });

  test("nothing was complained of but what was refused", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 401/.test(text)),
      [],
    );
  });
});
