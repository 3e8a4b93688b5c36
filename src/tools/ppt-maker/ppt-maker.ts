import { z } from "zod";
import { messageOf } from "../../protocol/base/errors.ts";
import type { FileChange } from "../../protocol/threads/files.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { type Sandbox, SandboxUnusable } from "../../sandbox/sandbox.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";
import { filesText, stoppedText } from "../code/command-result.ts";
import { defineTool } from "../core/define-tool.ts";
import type { CodeToolDeps } from "../code/run-command.ts";
import { countSlides, deckOf, fileNameOf, picturesIn, themes, titleOf, withPictures } from "./deck.ts";
import {
  chromiumInstall,
  conversionMs,
  convert,
  findMarp,
  type DeckFormat,
  formats,
  type Marp,
  marpInstall,
  type MarpOptions,
} from "./marp.ts";

export type PptMakerDeps = CodeToolDeps &
  MarpOptions & {
    /** The prompt `ppt_maker` with these values in it. */
    readonly prompt: (values: Readonly<Record<string, string>>) => Promise<string>;
  };

const maxDeckBytes = 500_000;
const usualSlides = 8;
const maxPages = 40;

const input = z
  .object({
    instructions: z
      .string()
      .max(50_000)
      .optional()
      .describe("What the slides are about and all facts that belong in them; with `deck`: what is to change"),
    slides: z.int().min(1).max(60).optional().describe(`About how many; ${usualSlides} if you do not say`),
    theme: z.enum(themes).default("default"),
    deck: z
      .string()
      .min(1)
      .optional()
      .describe("A deck of the workspace (slides/….md) to change, or to convert as it is"),
    formats: z
      .array(z.enum(formats))
      .min(1)
      .default([...formats]),
    name: z.string().min(1).max(100).optional().describe("Of the files, without an ending"),
  })
  .strict();
type DeckInput = z.output<typeof input>;

export function pptMakerTool(place: PptMakerDeps): Tool {
  return defineTool({
    name: "ppt_maker",
    description:
      "Makes slides of instructions: a presentation as PPTX, PDF and HTML in the workspace, with preview images. Say " +
      "everything that is to be on them: it knows nothing of this conversation. Pictures of the workspace (charts) can be " +
      "used. Text can be changed later in the Markdown deck, which is then converted again by `deck`.",
    input,
    effect: "write",
    scope: "sandbox",
    hosts: place.hosts,
    runsCode: true,
    timeoutMs: (formats.length + 1) * conversionMs + 120_000,
    execute: (asked, context) => makeSlides(place, asked, context),
  });
}

async function makeSlides(place: PptMakerDeps, asked: DeckInput, context: ToolContext): Promise<ToolResult> {
  const workspace = await place.workspaces.open(context.rootThreadId);
  const before = await workspace.snapshot();
  const deck = await writeDeck(place, asked, { context, workspace });
  const title = titleOf(deck);
  const name = `slides/${fileNameOf(asked.name ?? (asked.deck ? baseName(asked.deck) : title))}`;
  await workspace.write(`${name}.md`, deck);
  context.progress(`The deck “${title}” is written.`);
  const { notMade, notes } = await convertAll(place, { deck, name, formats: asked.formats }, { context, workspace });
  const { files } = await workspace.changesSince(before);
  const slides = countSlides(deck);
  const made = asked.formats.filter((format) => !notMade.has(format));
  const missing = [...notMade].map(([format, why]) => `Not made: ${format.toUpperCase()}. ${why}`);
  return {
    content: [`${slides} slides: ${title}`, filesText(withoutPages(files, name)), ...missing, ...notes]
      .filter((line) => line !== "")
      .join("\n"),
    ...(made.length === 0 ? { isError: true } : {}),
    data: { title, slides, deck: `${name}.md`, made, notMade: Object.fromEntries(notMade), files },
  };
}

type DeckContext = { readonly context: ToolContext; readonly workspace: Workspace };

/** By the model, of instructions; or the one that is there, as it is. */
async function writeDeck(place: PptMakerDeps, asked: DeckInput, { context, workspace }: DeckContext): Promise<string> {
  const { instructions, slides = usualSlides, theme } = asked;
  const present = asked.deck === undefined ? undefined : await readDeck(workspace, asked.deck);
  if (instructions === undefined && present === undefined)
    throw new Error("Say in `instructions` what the slides are about, or name a `deck` to convert.");
  if (instructions === undefined) return present!;
  const content = await place.prompt({
    instructions,
    slides: String(slides),
    pictures: (await picturesIn(workspace)).join(", ") || "none",
    deck:
      present === undefined ? "" : `This is the deck as it is; change in it what the instructions say:\n\n${present}`,
  });
  const { text, finish } = await context.step({ messages: [{ role: "user", content }] });
  if (text.trim() === "") throw new Error("The model wrote no slides.");
  if (finish === "length") throw new Error("The model's answer reached its length limit: ask for fewer slides.");
  return deckOf(text, theme);
}

async function readDeck(workspace: Workspace, path: string): Promise<string> {
  const { bytes, content } = await workspace.read(path, { maxBytes: maxDeckBytes });
  if (bytes > maxDeckBytes) throw new Error(`${path} is no deck: it has ${bytes} bytes.`);
  return content.toString();
}

type DeckRequest = { readonly deck: string; readonly name: string; readonly formats: readonly DeckFormat[] };
type ConversionOutcome = { readonly notMade: ReadonlyMap<DeckFormat, string>; readonly notes: readonly string[] };

/** What can't be made is told, with what would help; the rest is made. */
async function convertAll(
  place: PptMakerDeps,
  wanted: DeckRequest,
  { context, workspace }: DeckContext,
): Promise<ConversionOutcome> {
  const notMade = new Map<DeckFormat, string>();
  const notes: string[] = [];
  const ready = await findWhatItTakes(place);
  if ("reason" in ready) return { notMade: new Map(wanted.formats.map((format) => [format, ready.reason])), notes };
  const { sandbox, marp } = ready;
  const filled = await withPictures(wanted.deck, workspace);
  if (filled.left.length > 0) notes.push(`Not shown, since they can't be: ${filled.left.join(", ")}`);
  const source = `.colloquy/slides-${newId()}.md`;
  await workspace.write(source, filled.deck);
  const make = async (output: string): Promise<string | undefined> => {
    context.progress(`Making ${output} …`);
    const { limits } = place;
    const result = await convert(sandbox, marp, {
      ...{ workspace: workspace.folder, deck: source, output, limits },
      signal: context.signal,
    });
    context.signal.throwIfAborted();
    if (result.end === "exited" && result.exitCode === 0) return undefined;
    const stopped = stoppedText(result, { ...limits, timeoutMs: conversionMs });
    return stopped ?? `Marp ended with exit code ${result.exitCode}: ${result.stderr.text.trim().slice(-500)}`;
  };
  try {
    for (const format of wanted.formats) {
      const why =
        format !== "html" && marp.chromium === undefined
          ? `Chromium is not installed: ${chromiumInstall}`
          : await make(`${wanted.name}.${format}`);
      if (why !== undefined) notMade.set(format, why);
    }
    if (marp.chromium !== undefined) {
      // Those of a longer deck of before would stand behind it.
      await removePages(workspace, wanted.name, 0);
      const why = await make(`${wanted.name}.png`);
      if (why !== undefined) notes.push(`No pictures of the slides: ${why}`);
      await removePages(workspace, wanted.name, maxPages);
    }
    return { notMade, notes };
  } finally {
    await workspace.remove(source).catch(() => {});
  }
}

type DeckTools = { readonly sandbox: Sandbox; readonly marp: Marp };

async function findWhatItTakes(place: PptMakerDeps): Promise<DeckTools | { readonly reason: string }> {
  const marp = await findMarp(place);
  if (!marp) return { reason: `Marp is not installed here: ${marpInstall}` };
  try {
    const sandbox = await place.sandbox.open();
    const { driver, runsPrograms, mounts } = sandbox.report;
    if (runsPrograms && mounts) return { sandbox, marp };
    return { reason: `The sandbox here (${driver}) can't run Marp.` };
  } catch (error) {
    if (error instanceof SandboxUnusable) return { reason: messageOf(error) };
    throw error;
  }
}

/** Marp makes a picture of every slide: `<name>.001.png` and so on. Those after `last` go. */
async function removePages(workspace: Workspace, name: string, last: number): Promise<void> {
  const { entries } = await workspace.list({ under: "slides", depth: 1 }).catch(() => ({ entries: [] }));
  for (const { path } of entries) if ((pageOf(path, name) ?? 0) > last) await workspace.remove(path);
}

function pageOf(path: string, name: string): number | undefined {
  const number = path.startsWith(`${name}.`) ? /^\.(\d+)\.png$/.exec(path.slice(name.length))?.[1] : undefined;
  return number === undefined ? undefined : Number(number);
}

/** A model need not read of each picture. */
function withoutPages(files: readonly FileChange[], name: string): readonly FileChange[] {
  return files.filter(({ path, change }) => {
    const page = pageOf(path, name);
    return page === undefined || (page === 1 && change !== "removed");
  });
}

function baseName(path: string): string {
  return path.replace(/^.*\//, "").replace(/\.\w+$/, "");
}
