import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { messageOf } from "../protocol/base/errors.ts";
import { roomFileSchema, type RoomFile } from "./room-file.ts";

export type RoomProblem = { readonly file: string; readonly line?: number; readonly message: string };
export type LoadedRooms = { readonly rooms: readonly RoomFile[]; readonly problems: readonly RoomProblem[] };

const builtInFolder = join(import.meta.dirname, "built-in");
const maximumFileBytes = 1_000_000;

/**
 * The built-in rooms and those of a folder of YAML files; a file of the folder replaces the built-in room of its id. A file
 * with a problem is left out and told. `variable` gives what stands for `${NAME}`; without it the key is absent.
 */
export async function loadRooms({
  folder,
  variable = () => undefined,
}: {
  readonly folder?: string;
  readonly variable?: (name: string) => string | undefined;
}): Promise<LoadedRooms> {
  const loaded = await Promise.all(
    [builtInFolder, ...(folder === undefined ? [] : [folder])].map((each) => loadFolder(each, variable)),
  );
  const rooms = new Map(loaded.flatMap((each) => each.rooms).map((room) => [room.id, room]));
  return {
    rooms: [...rooms.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    problems: loaded.flatMap(({ problems }) => problems),
  };
}

async function loadFolder(
  folder: string,
  variable: (name: string) => string | undefined,
): Promise<{ rooms: RoomFile[]; problems: RoomProblem[] }> {
  const rooms: RoomFile[] = [];
  const problems: RoomProblem[] = [];
  for (const file of await filesIn(folder)) {
    const read = await readRoomFile(file, variable);
    if ("problems" in read) problems.push(...read.problems);
    else if (rooms.some(({ id }) => id === read.room.id))
      problems.push({ file, message: `There is already a room ${read.room.id}.` });
    else rooms.push(read.room);
  }
  return { rooms, problems };
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => /^[^.].*\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function readRoomFile(
  file: string,
  variable: (name: string) => string | undefined,
): Promise<{ readonly room: RoomFile } | { readonly problems: readonly RoomProblem[] }> {
  if ((await stat(file)).size > maximumFileBytes)
    return { problems: [{ file, message: `The file is larger than ${maximumFileBytes} bytes.` }] };
  const lines = new LineCounter();
  const document = parseDocument(await readFile(file, "utf8"), { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0)
    return {
      problems: document.errors.map((error) => ({
        file,
        line: lines.linePos(error.pos[0]).line,
        message: error.message,
      })),
    };
  let values: unknown;
  try {
    values = withVariables(document.toJS(), variable);
  } catch (error) {
    // Aliases that are unknown, or would grow without end.
    return { problems: [{ file, message: messageOf(error) }] };
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    return { problems: [{ file, message: "The file must be lines of the form key: value." }] };
  const parsed = roomFileSchema.safeParse({ id: basename(file).replace(/\.ya?ml$/, ""), ...values });
  if (!parsed.success)
    return {
      problems: parsed.error.issues.map(({ path, message }) => ({ file, message: `${path.join(".")}: ${message}` })),
    };
  const { workspace } = parsed.data;
  return {
    room: {
      ...parsed.data,
      ...(workspace === undefined ? {} : { workspace: resolve(dirname(file), workspace) }),
    },
  };
}

/** `${NAME}` in every text; a value whose variable is not set is absent. */
function withVariables(value: unknown, variable: (name: string) => string | undefined): unknown {
  if (typeof value === "string") return expanded(value, variable);
  if (Array.isArray(value)) return value.map((each) => withVariables(each, variable));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const now = withVariables(each, variable);
      return now === undefined ? [] : [[key, now]];
    }),
  );
}

function expanded(text: string, variable: (name: string) => string | undefined): string | undefined {
  let isAbsent = false;
  const whole = text.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_found, name: string) => {
    const value = variable(name);
    isAbsent ||= value === undefined;
    return value ?? "";
  });
  return isAbsent ? undefined : whole;
}
