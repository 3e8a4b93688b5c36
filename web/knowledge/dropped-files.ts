export type NamedFile = { readonly name: string; readonly content: File };

/** Files of one go, at most. */
export const mostFiles = 2000;

/** What was dropped, folders with all that is in them; their names tell where in it. Hidden files are left out. */
export async function droppedFiles(data: DataTransfer): Promise<readonly NamedFile[]> {
  // Only until the event is over does it tell what was dropped.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return namedFiles(data.files);
  const found: NamedFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

/** As a choice of files or of a folder gives them. */
export function namedFiles(files: Iterable<File>): readonly NamedFile[] {
  return [...files]
    .map((content) => ({ name: content.webkitRelativePath || content.name, content }))
    .filter(({ name }) => !/(^|\/)\./.test(name));
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (found.length > mostFiles || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const content = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    found.push({ name: entry.fullPath.replace(/^\//, ""), content });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A part at a time, until there is none.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (part.length === 0) return;
    for (const each of part) await collect(each, found);
  }
}
