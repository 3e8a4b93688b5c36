import { stripVTControlCharacters, styleText } from "node:util";

/** The eight speakers of the page, in a lightness that can be read on black and on white. */
const hues = [
  [107, 143, 226],
  [79, 168, 102],
  [213, 114, 90],
  [181, 118, 195],
  [0, 170, 171],
  [171, 144, 23],
  [204, 111, 157],
  [10, 160, 210],
] as const;

export type Colours = {
  /** Speakers have colours, by the order in which they joined; people have none. */
  readonly speaker: (place: number, text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly italic: (text: string) => string;
  readonly underline: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
};

const plain = (text: string) => text;
const noColours: Colours = {
  speaker: (_place, text) => text,
  dim: plain,
  bold: plain,
  italic: plain,
  underline: plain,
  warn: plain,
  bad: plain,
};

/** Those that the stream can show: none for a file or with NO_COLOR. */
export function coloursFor(stream: NodeJS.WriteStream): Colours {
  const depth = stream.isTTY ? stream.getColorDepth() : 1;
  if (depth === 1) return noColours;
  const as = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    styleText(format, text, { validateStream: false });
  return {
    speaker(place, text) {
      const [red, green, blue] = hues[place % hues.length]!;
      const colour =
        depth >= 24 ? `2;${red};${green};${blue}` : `5;${16 + 36 * level(red) + 6 * level(green) + level(blue)}`;
      return `\u001B[1;38;${colour}m${text}\u001B[22;39m`;
    },
    dim: as("dim"),
    bold: as("bold"),
    italic: as("italic"),
    underline: as("underline"),
    warn: as("yellow"),
    bad: as("red"),
  };
}

/** In the cube of 256 colours. */
function level(value: number): number {
  return Math.round((value / 255) * 5);
}

/** What others wrote may not steer the terminal: only text, line ends and tabs are left of it. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, "");
}
