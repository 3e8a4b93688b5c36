import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { openTestPlace } from "../../test/code-place.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { until } from "../../test/run-suite.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { createWorkspaces } from "../../src/sandbox/workspace/workspaces.ts";
import { pptMakerTool } from "../../src/tools/ppt-maker/ppt-maker.ts";
import { runPythonTool } from "../../src/tools/code/run-python.ts";

const place = skipBrowser ? undefined : await openTestPlace();
const skip = skipBrowser ? "no Chromium" : place ? false : "no bubblewrap";

const maker = agentSchema.parse({
  id: "maker",
  model: "default",
  tools: ["run_python", "ppt_maker"],
  instructions: "You make things.",
});

/** With the tools themselves, in a real sandbox. */
describe("what tools made is seen in the turn", { skip }, () => {
  let answers: ScriptAnswer[] = [];
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    const workspaces = createWorkspaces({ folder: temporaryFolder("made") });
    const here = { ...place!, workspaces };
    const marp = { marp: undefined, chromium: undefined, searchPath: "", prompt: async () => "Write slides." };
    server = await servePage(
      () => answers.shift() ?? "nothing more to say",
      {},
      { tools: [runPythonTool(here), pptMakerTool({ ...here, ...marp })], agents: [maker], workspaces },
    );
    browser = await openBrowser();
    page = await browser.open(`${server.url}/?agent=maker`, { viewport: { width: 1200, height: 900 } });
    page.setDefaultTimeout(120_000);
  });
  after(async () => {
    await browser.close();
    await server.close();
    await place!.close();
  });

  const log = () => page.getByRole("log");
  const say = (text: string) => sayOn(page, text);
  const isSeen = async (name: string) => {
    const picture = log().locator(`img[alt="${name}"]`);
    await picture.scrollIntoViewIfNeeded();
    await until(async () =>
      picture.evaluate((each) => (each as unknown as { readonly naturalWidth: number }).naturalWidth > 100),
    );
  };

  test("a chart that Python drew stands there as a picture, and opens large", async (t) => {
    const { content } = await runPythonTool(place!).execute({ code: "import matplotlib" }, place!.context());
    if (!content.startsWith("EXEC_OK")) return t.skip("matplotlib is not installed");
    const code =
      "import matplotlib.pyplot as plt\nplt.bar(['Jan', 'Feb', 'Mar'], [3, 5, 2])\nplt.title('Sales')\nplt.show()";
    answers = [[{ call: "run_python", arguments: { code } }], "February was best."];
    await say("draw the sales");
    await log().getByText("February was best.").waitFor();
    await isSeen("figure-1.png");
    assert.deepEqual(await violationsOf(page), []);
    await log().getByRole("button", { name: "Enlarge figure-1.png" }).click();
    await page.getByRole("dialog", { name: "figure-1.png" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("slides are leafed through", { skip: existsSync("/usr/bin/chromium") ? false : "no Chromium" }, async () => {
    const deck = [
      "# Herons",
      "## They wait\n\n<script>document.body.dataset.ran = 1</script>\n\n- long\n- still",
      "## The end",
    ].join("\n\n---\n\n");
    answers = [
      [{ call: "ppt_maker", arguments: { instructions: "herons", formats: ["html", "pptx"] } }],
      deck,
      "Your slides are there.",
    ];
    await say("make slides");
    await log().getByText("Your slides are there.").waitFor();
    const slides = log().getByRole("region", { name: "Slides: herons" });
    await isSeen("herons, slide 1 of 3");
    assert.ok(await slides.getByRole("button", { name: "Previous slide" }).isDisabled());
    await slides.getByRole("button", { name: "Next slide" }).click();
    await isSeen("herons, slide 2 of 3");
    await page.keyboard.press("ArrowRight");
    await isSeen("herons, slide 3 of 3");
    await page.keyboard.press("ArrowRight");
    await slides.getByText("slide 3 of 3").waitFor();
    await log().getByRole("link", { name: "Download herons.pptx" }).waitFor();
    assert.equal(
      await log().locator('img[alt*="herons"]').count(),
      1,
      "the pages are pictures of their deck, not further ones",
    );
    assert.deepEqual(await violationsOf(page), []);
    assert.equal(await page.locator("iframe").count(), 0);
    assert.equal(await page.evaluate("document.body.dataset.ran"), undefined);

    const phone = await browser.open(page.url(), {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
    });
    await phone.getByRole("region", { name: "Folien: herons" }).getByText("Folie 1 von 3").waitFor();
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    assert.deepEqual(await violationsOf(phone), []);
    assert.deepEqual(browser.complaints(), []);
  });
});
