import { mediaTypeOf } from "../../protocol/threads/files.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";

export const themes = ["default", "gaia", "uncover"] as const;
export type Theme = (typeof themes)[number];

/** What Marp shows of pictures that stand in the deck itself. */
const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const maxPictures = 30;
const maxPictureBytes = 4 * 1024 * 1024;
const maxBytes = 16 * 1024 * 1024;

/** A model's answer as a deck: without the fence around it, with front matter of ours and none of its own. */
export function deckOf(answer: string, theme: Theme): string {
  const fenced = /^```(?:markdown|md|marp)?\n([\s\S]*?)\n```\s*$/.exec(answer.trim());
  const text = withoutFrontMatter((fenced?.[1] ?? answer).trim()).trim();
  return `---\nmarp: true\ntheme: ${theme}\npaginate: true\n---\n\n${text}\n`;
}

/** Between two lines `---` at the very beginning there are settings only if each line between looks like one. */
function withoutFrontMatter(text: string): string {
  const [, settings, rest] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const areSettings = settings?.split("\n").every((line) => /^\s*$|^\s+|^[\w-]+:/.test(line));
  return areSettings && rest !== undefined ? rest : text.replace(/^---\n/, "");
}

/** How many slides a deck has; lines within fences separate nothing. */
export function countSlides(deck: string): number {
  const text = withoutFrontMatter(deck).replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "");
  return text.split(/^---+\s*$/m).length;
}

/** Its first heading, as people read it. */
export function titleOf(deck: string): string {
  return /^#{1,2} +(.+)$/m.exec(deck)?.[1]?.replaceAll(/[*_`]/g, "").trim() ?? "Slides";
}

/** A name for files: letters of the title, or `slides`. */
export function fileNameOf(title: string): string {
  const plain = title.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return (
    plain
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 50) || "slides"
  );
}

/** Names of pictures that a deck may show. */
export async function picturesIn(workspace: Workspace): Promise<string[]> {
  const { entries } = await workspace.list({ depth: 4 });
  return entries
    .map(({ path }) => path)
    .filter((path) => isPicture(path) && !path.startsWith("slides/"))
    .slice(0, maxPictures);
}

/**
 * With the workspace's pictures in it: Marp may open no files, since a deck could name any. What can't be shown stays as
 * it is, and is told in `left`.
 */
export async function withPictures(
  deck: string,
  workspace: Workspace,
): Promise<{ readonly deck: string; readonly left: readonly string[] }> {
  const left = new Set<string>();
  const found = new Map<string, string>();
  let bytes = 0;
  for (const [, path] of deck.matchAll(pictures)) {
    if (path === undefined || found.has(path) || /^[a-z][a-z+.-]*:/i.test(path)) continue;
    const content = isPicture(path) ? await read(workspace, path) : undefined;
    if (!content || bytes + content.length > maxBytes || found.size === maxPictures) left.add(path);
    else {
      bytes += content.length;
      found.set(path, `data:${mediaTypeOf(path)};base64,${content.toString("base64")}`);
    }
  }
  const filled = deck.replaceAll(pictures, (whole, path: string) => whole.replace(path, () => found.get(path) ?? path));
  return { deck: filled, left: [...left] };
}

const pictures = /!\[[^[\]]*\]\(\s*<?((?:(?!!\[)[^\s)>])+)(?![^\s)>])>?[^)[]*\)/g;

function isPicture(path: string): boolean {
  return pictureTypes.has(mediaTypeOf(path) ?? "");
}

async function read(workspace: Workspace, path: string): Promise<Buffer | undefined> {
  try {
    const plain = decodeURI(path).replace(/^\.?\//, "");
    const { bytes, content } = await workspace.read(plain, { maxBytes: maxPictureBytes });
    return bytes > maxPictureBytes ? undefined : content;
  } catch {
    return undefined;
  }
}
