import { join } from "node:path";
import type { Page } from "playwright-core";

const folder = process.env["COLLOQUY_TEST_SHOTS"];

/** Of a state that a test has come to, for people to look at; only where a folder for such is named. */
export async function pictureOf(page: Page, state: string): Promise<void> {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${state.replaceAll(/\W+/g, "-")}.png`) });
}
