import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import type { ServerAnswer } from "../../test/model-servers/answers.ts";
import type { SeenRequest } from "../../test/model-servers/model-server.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { type PeopleServing, servePeople } from "../../test/serve-people.ts";

const member = (id: string, prompt: string, more = "") =>
  `  - { id: ${id}, introduce: false, prompt: "You are @${id}. ${prompt}"${more} }\n`;
const desk =
  "title: Desk\nguards: { turns: 4 }\nturns: parallel\nmembers:\n" + member("ping", "Play.") + member("pong", "Play.");
const open = "title: Open house\npeople: everybody\nmembers:\n" + member("host", "Greet.", ", activation: always");

/** Each calls the other one, for ever; whoever is to think hard does so until it is stopped. */
function answerOf({ body }: SeenRequest): string | ServerAnswer {
  const messages = body["messages"] as readonly { readonly role: string; readonly content: string }[];
  const who = /You are @(\w+)/.exec(messages[0]!.content)?.[1];
  const last = messages.at(-1)!.content;
  if (who === "host") return "Welcome to all.";
  if (/think hard/.test(last)) return { text: [`${who} begins. `], fault: "hang" };
  if (/play/.test(JSON.stringify(messages)))
    return `@${who === "ping" ? "pong" : "ping"} now you, after ${messages.length}`;
  return `${who} has heard it.`;
}

describe("two people in a room", { skip: skipBrowser }, () => {
  let server: PeopleServing;
  let browser: OpenBrowser;
  let ada: Page;
  let ben: Page;
  let room = "";
  before(async () => {
    browser = await openBrowser();
    server = await servePeople({
      browser,
      people: ["ada", "ben", "eve"],
      files: { "rooms/desk.yaml": desk, "rooms/open.yaml": open },
    });
    server.model.always(answerOf);
    const viewport = { width: 1280, height: 820 };
    ada = await server.tabOf("ada", "/rooms", { viewport });
    ben = await server.tabOf("ben", "/rooms", { viewport, colorScheme: "dark" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const log = (page: Page) => page.getByRole("log");
  const members = (page: Page) => page.getByRole("complementary", { name: "Members" });
  const memberOf = (page: Page, handle: string) =>
    members(page)
      .getByRole("listitem")
      .filter({ has: page.locator(".speaker", { hasText: `@${handle}` }) });
  const field = (page: Page) => page.getByRole("combobox", { name: "Message" });
  const say = async (page: Page, text: string) => {
    await field(page).fill(text);
    await page.keyboard.press("Enter");
  };
  const quiet = (page: Page) => page.locator("[role=log][aria-busy=false]").waitFor();
  const findsNothing = async (page: Page, state: string) => {
    await pictureOf(page, `company ${state}`);
    assert.deepEqual(await violationsOf(page), [], state);
  };

  test("who is not in it finds nothing behind its address, until the owner lets them in", async () => {
    const form = ada.getByRole("form", { name: "New room" });
    await form.getByLabel("Kind").selectOption("desk");
    await form.getByRole("button", { name: "Create room" }).click();
    await ada.waitForURL(/\/rooms\/[0-9a-f-]{36}$/);
    room = ada.url();
    await ben.goto(room);
    await ben.getByRole("heading", { name: "You are not in this room" }).waitFor();
    await findsNothing(ben, "not in it");
    await ben.getByRole("button", { name: "Join" }).click();
    await ben.getByRole("alert").getByText("you need an invitation from its owner").waitFor();

    const letIn = members(ada).getByRole("textbox", { name: "Account name" });
    await letIn.fill("nobody of this name");
    await letIn.press("Enter");
    await ada.getByRole("alert").getByText("nobody of this name").waitFor();
    assert.equal(await letIn.inputValue(), "nobody of this name");
    await letIn.fill("ben");
    await letIn.press("Enter");
    await memberOf(ada, "ben").getByText("offline").waitFor();
    await findsNothing(ada, "let in");
  });

  test("who comes and goes is seen by the others", async () => {
    await ben.goto(`${server.url}/rooms`);
    await ben.getByRole("main").getByRole("link", { name: /^Desk/ }).click();
    await log(ben).waitFor();
    await memberOf(ada, "ben").getByText("online").waitFor();
    await memberOf(ben, "user").getByText("online").waitFor();
    await ben.goto(`${server.url}/tasks`);
    await memberOf(ada, "ben").getByText("offline").waitFor();
    await ben.goBack();
    await memberOf(ada, "ben").getByText("online").waitFor();
  });

  test("what one says the other sees, people are called by their names, and a name nobody has is pointed out", async () => {
    await field(ada).pressSequentially("Hello @b");
    await ada.getByRole("option", { name: "@ben" }).waitFor();
    await findsNothing(ada, "a person is called");
    // A page that is slow to paint, so that it does in the middle of the next word: that stands behind the name.
    await ada.evaluate(
      "{ const next = requestAnimationFrame; window.requestAnimationFrame = (paint) => setTimeout(() => next(paint), 30) }",
    );
    await ada.keyboard.press("Enter");
    assert.equal(await field(ada).inputValue(), "Hello @ben ");
    await ada.keyboard.type("are you there?", { delay: 10 });
    await ada.keyboard.press("Enter");
    const said = (page: Page) => log(page).getByRole("listitem").filter({ hasText: "Hello @ben are you there?" });
    await said(ada).getByRole("heading", { name: "You" }).waitFor();
    await said(ben).getByRole("heading", { name: "@user" }).waitFor();
    await say(ben, "I am, @user; and @nobody");
    const answer = log(ada).getByRole("listitem").filter({ hasText: "I am, @user" });
    await answer.getByRole("heading", { name: "@ben" }).waitFor();
    await log(ada)
      .getByText(/@nobody/)
      .nth(1)
      .waitFor();
    await log(ben)
      .getByText(/@nobody/)
      .nth(1)
      .waitFor();
    await findsNothing(ben, "said by two");
  });

  test("who thinks is seen by both; one is stopped, then all", async () => {
    await say(ada, "@ping and @pong, think hard");
    for (const page of [ada, ben]) {
      await log(page).getByText("ping begins.").waitFor();
      await log(page).getByText("pong begins.").waitFor();
      await memberOf(page, "ping").getByText("thinking").waitFor();
      await page
        .getByRole("status")
        .getByText(/^@p[io]ng, @p[io]ng are thinking/)
        .waitFor();
      assert.equal(await log(page).getAttribute("aria-busy"), "true");
    }
    // Each agent has a colour, and people have none.
    const colours = await ben.evaluate<string[]>(
      `[...document.querySelectorAll(".members .speaker")].map((each) => getComputedStyle(each).color)`,
    );
    const [ping, pong, user, other] = colours;
    assert.equal(new Set([ping, pong, user]).size, 3);
    assert.equal(user, other);
    await findsNothing(ben, "two think");
    await memberOf(ben, "ping").getByRole("button", { name: "Stop" }).click();
    for (const page of [ada, ben]) {
      await page
        .getByRole("status")
        .getByText(/^@pong is thinking/)
        .waitFor();
      await memberOf(page, "ping").getByText("when mentioned").waitFor();
      const stopped = log(page).getByRole("listitem").filter({ hasText: "ping begins." });
      await stopped.getByRole("heading", { name: "@ping Stopped." }).waitFor();
    }
    await ada.getByRole("button", { name: "Stop all" }).click();
    await Promise.all([quiet(ada), quiet(ben)]);
    await log(ben).getByRole("heading", { name: "@pong Stopped." }).waitFor();
    await findsNothing(ada, "all stopped");
  });

  test("a guard stops agents that only talk to each other: both read why, and either lets them go on", async () => {
    await say(ada, "@ping play with @pong");
    for (const page of [ada, ben]) {
      await log(page).getByText("The agents have had 4 turns since your message.").waitFor();
      await page.getByRole("button", { name: "Continue" }).waitFor();
    }
    // What each of those took that thought at the same time.
    await log(ada)
      .getByText(/now you/)
      .nth(3)
      .waitFor();
    for (const turn of await log(ada)
      .getByRole("listitem")
      .filter({ hasText: /now you/ })
      .all())
      await turn.getByText(/\d+ \+ \d+ tokens/).waitFor();
    await findsNothing(ada, "guard");
    await ben.getByRole("button", { name: "Continue" }).click();
    for (const page of [ada, ben])
      await log(page).getByText("The agents have had 4 turns since your message.").nth(1).waitFor();
  });

  test("whoever reads above stays there while others speak; the end is followed by whoever is there", async () => {
    await quiet(ada);
    const below = `(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector("[role=log]"))`;
    const isAtEnd = (page: Page) => untilTrue(page, `${below} < 2`);
    await say(ben, Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n"));
    await log(ada).getByText("line 59").waitFor();
    for (const page of [ada, ben]) await isAtEnd(page);
    await ada.setViewportSize({ width: 1280, height: 600 });
    await isAtEnd(ada);
    await log(ada).hover();
    // To where no link lies below the button that leads back.
    await ada.mouse.wheel(0, -700);
    const newBelow = ada.getByRole("button", { name: "New messages" });
    const jump = ada.getByRole("button", { name: "Jump to latest" });
    await jump.waitFor();
    assert.equal(await newBelow.count(), 0, "nothing was said");
    await findsNothing(ada, "read above");
    const top = await ada.evaluate(`document.querySelector("[role=log]").scrollTop`);
    await say(ben, "said meanwhile");
    await log(ada).getByText("said meanwhile").waitFor();
    assert.equal(await ada.evaluate(`document.querySelector("[role=log]").scrollTop`), top);
    await newBelow.click();
    await isAtEnd(ada);
    await newBelow.waitFor({ state: "detached" });
    assert.equal(await ada.evaluate(`document.activeElement.role`), "log");
    // What is pressed does not move away before it is released.
    const link = log(ada).getByRole("link", { name: "Run" }).last();
    await link.hover();
    await ada.mouse.down();
    const place = await link.boundingBox();
    await say(ben, "said at a press");
    await log(ben).getByText("said at a press").waitFor();
    assert.deepEqual(await link.boundingBox(), place);
    await ada.mouse.move(600, 20);
    await ada.mouse.up();
    await log(ada).getByText("said at a press").waitFor();
    await isAtEnd(ada);
    await log(ada).hover();
    // To where no link lies below the button that leads back.
    await ada.mouse.wheel(0, -700);
    await jump.waitFor();
    await say(ada, "said from above");
    await log(ada).getByText("said from above").waitFor();
    await isAtEnd(ada);
    await ada.setViewportSize({ width: 1280, height: 820 });
  });

  test("one that could not be read is read again", async () => {
    const messages = "**/api/rooms/*/messages*";
    await ben.route(messages, (route) => route.abort("connectionreset"));
    await ben.reload();
    await ben.getByRole("alert").waitFor();
    await findsNothing(ben, "not read");
    await ben.unroute(messages);
    await ben.getByRole("button", { name: "Try again" }).click();
    await log(ben).getByText("said from above").waitFor();
    assert.equal(await ben.getByRole("alert").count(), 0);
  });

  test("files are everybody's", async () => {
    const files = (page: Page) => members(page).getByRole("region", { name: "Files" });
    await files(ada)
      .locator("input[type=file]")
      .setInputFiles({
        name: "sales.csv",
        mimeType: "text/csv",
        buffer: Buffer.from("customer,amount\nC1,3\n"),
      });
    await files(ada).getByText("sales.csv").waitFor();
    await files(ben).getByText("sales.csv").waitFor();
    const saved = ben.waitForEvent("download");
    await files(ben).getByRole("link", { name: "Download sales.csv" }).click();
    assert.equal((await saved).suggestedFilename(), "sales.csv");
    await files(ben).getByRole("button", { name: "Remove sales.csv" }).click();
    await agree(ben, "Remove");
    await files(ada).getByText("No files yet.").waitFor();
  });

  test("only the owner changes who is in it; whoever is taken out reads no more of it", async () => {
    assert.equal(await members(ben).getByRole("button", { name: "Delete" }).count(), 0);
    assert.equal(await members(ben).getByRole("textbox").count(), 0);
    assert.equal(
      await members(ben)
        .getByRole("button", { name: /^Remove @/ })
        .count(),
      0,
    );
    await memberOf(ben, "ben").getByRole("button", { name: "Leave" }).waitFor();
    await memberOf(ada, "ben").getByRole("button", { name: "Remove" }).click();
    await memberOf(ada, "ben").waitFor({ state: "detached" });
    await ben.getByRole("alert").getByText("You are not in this room").waitFor();
    await say(ada, "now without him");
    await log(ada).getByText("now without him").waitFor();
    await field(ben).fill("may I?");
    await field(ben).press("Enter");
    await untilTrue(ben, `document.querySelector("[data-composer]").value === "may I?"`);
    assert.equal(await log(ben).getByText("now without him").count(), 0);
    await pictureOf(ben, "company taken out");
    await ben.reload();
    await ben.getByRole("heading", { name: "You are not in this room" }).waitFor();
  });

  test("into an open room everybody comes who has its address, and leaves again", async () => {
    const { id } = await server.clientOf("ada").rooms.create({ kind: "open" });
    const phone = await server.tabOf("eve", `/rooms/${id}`, {
      viewport: { width: 360, height: 740 },
      locale: "de-DE",
      hasTouch: true,
    });
    await phone.getByRole("heading", { name: "Sie sind nicht in diesem Raum" }).waitFor();
    await findsNothing(phone, "not in it, on a phone");
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await ada.goto(`${server.url}/rooms/${id}`);
    await phone.getByRole("button", { name: "Beitreten" }).click();
    await phone.getByRole("heading", { name: "Open house" }).waitFor();
    await memberOf(ada, "eve").getByText("online").waitFor();
    await phone.getByRole("combobox").fill("Guten Abend");
    await phone.getByRole("button", { name: "Senden" }).click();
    await log(phone).getByText("Welcome to all.").waitFor();
    await log(ada).getByText("Guten Abend").waitFor();
    await phone.getByRole("button", { name: "Mitglieder", exact: true }).click();
    await phone.getByRole("button", { name: "Verlassen" }).click();
    await phone.waitForURL(/\/rooms$/);
    await memberOf(ada, "eve").waitFor({ state: "detached" });
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused or cut off", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 40[04]|ERR_CONNECTION_RESET/.test(text)),
      [],
    );
  });
});
