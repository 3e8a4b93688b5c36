import type { Browser, Page } from "playwright-core";
import { answerEnd, askFor, type AnswerKind } from "./answer-model.ts";
import { heapOf } from "./page-measures.ts";
import { longestTask, type LongestTask } from "./page-tasks.ts";

export type AnswerTasks = {
  readonly streamed: LongestTask;
  readonly opened: LongestTask;
  readonly read: LongestTask;
  /** From the click that opens it until its end is painted. */
  readonly shownMs: number;
  /** Of the heap, after each. */
  readonly writtenMb: number;
  readonly openedMb: number;
};

/** Looks seldom and at little: what looks into the page is a task of it, too. */
const untilSettled = (of: string) => `new Promise((resolve, reject) => {
  const until = performance.now() + 120000;
  let [last, same] = ["", 0];
  const look = () => {
    const log = document.querySelector("[role=log]");
    const text = [...(log?.querySelectorAll(".turn[data-role=assistant] .prose-page") ?? [])].at(-1);
    const now = [text?.getElementsByTagName("*").length, text?.lastElementChild?.textContent, log?.ariaBusy, text?.querySelectorAll(".code-block span[class]").length].join();
    same = now === last ? same + 1 : 0;
    last = now;
    if (same >= 7 && log?.ariaBusy === "false" && text?.lastElementChild?.textContent.includes(${JSON.stringify(of)})) resolve();
    else if (performance.now() > until) reject(new Error("it was not there within two minutes: " + last.slice(-200)));
    else setTimeout(look, 100);
  };
  look();
})`;

/** When what stands at the end of the answer was painted, since now. */
const untilShown = `new Promise((resolve) => {
  const begun = performance.now();
  const look = () => {
    const text = [...document.querySelectorAll("[role=log] .turn[data-role=assistant] .prose-page")].at(-1);
    if (text?.lastElementChild?.textContent.includes(${JSON.stringify(answerEnd)})) resolve(performance.now() - begun);
    else requestAnimationFrame(look);
  };
  look();
})`;

const scrollTo = (part: number) => `(() => {
  const scroller = document.querySelector("[role=log]").parentElement;
  scroller.scrollTop = scroller.scrollHeight * ${part};
})()`;

/** Has an answer written into a thread, opens it in the same tab by a click, and reads it from its end to its beginning. */
export async function measureAnswer(
  browser: Browser,
  url: string,
  { thread, kind, size }: { readonly thread: string; readonly kind: AnswerKind; readonly size: number },
): Promise<AnswerTasks> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${url}/chat/${thread}`);
  await page.getByRole("textbox", { name: "Message" }).fill(askFor(kind, size));
  const settle = () => page.evaluate(untilSettled(answerEnd));
  const streamed = await longestTask(browser, page, async () => {
    await page.keyboard.press("Enter");
    await settle();
  });
  const session = await page.context().newCDPSession(page);
  const writtenMb = await heapOf(session);
  await page.goto(url);
  await page.locator(".thread-entry").first().waitFor();
  let shownMs = NaN;
  const opened = await longestTask(browser, page, async () => {
    const click = `history.pushState(null, "", "/chat/${thread}"), dispatchEvent(new PopStateEvent("popstate"))`;
    shownMs = await page.evaluate<number>(`(${click}, ${untilShown})`);
    await settle();
  });
  const openedMb = await heapOf(session);
  const read = await longestTask(browser, page, async () => {
    for (const part of [0.6, 0.3, 0]) {
      await page.evaluate(scrollTo(part));
      await settle();
    }
  });
  await page.close();
  return { streamed, opened, read, shownMs, writtenMb, openedMb };
}

/** Of a tab, after each of so many answers. */
export type HeapAfter = readonly { readonly answers: number; readonly heapMb: number; readonly nodes: number }[];

export async function measureHeap(
  browser: Browser,
  url: string,
  { thread, after }: { readonly thread: string; readonly after: readonly number[] },
): Promise<HeapAfter> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${url}/chat/${thread}`);
  const session = await page.context().newCDPSession(page);
  const heap: { answers: number; heapMb: number; nodes: number }[] = [];
  for (let answers = 1; answers <= after.at(-1)!; answers++) {
    await say(page, answers);
    if (!after.includes(answers)) continue;
    await page.waitForTimeout(1000);
    const heapMb = await heapOf(session);
    const { nodes } = await session.send("Memory.getDOMCounters");
    heap.push({ answers, heapMb, nodes });
  }
  await page.close();
  return heap;
}

async function say(page: Page, answers: number): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(`${askFor("prose", 1500)}, for the time ${answers}`);
  await page.keyboard.press("Enter");
  await page.evaluate(`new Promise((resolve, reject) => {
    const until = performance.now() + 30000;
    const look = () => {
      const turns = document.querySelectorAll("[role=log] .turn");
      const [asked, said] = [turns[turns.length - 2], turns[turns.length - 1]];
      const isThere = asked?.textContent.includes("the time ${answers}") && said?.textContent.includes(${JSON.stringify(answerEnd)});
      if (isThere && document.querySelector("[role=log]").ariaBusy === "false") resolve();
      else if (performance.now() > until) reject(new Error("no answer ${answers} within 30 s"));
      else setTimeout(look, 20);
    };
    look();
  })`);
}
