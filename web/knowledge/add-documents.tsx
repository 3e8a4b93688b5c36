import { FileUp, FolderUp, Globe, Type } from "lucide-react";
import { type ChangeEvent, type DragEvent, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { KnowledgeChoices } from "../../src/protocol/knowledge/collections.ts";
import { size } from "../parts/format.ts";
import { Problem } from "../parts/problem.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Field, TextField } from "../parts/forms/fields.tsx";
import { addFiles, addText, addUrls } from "./uploads-store.ts";

type NamedFile = { readonly name: string; readonly content: File };

/** Files of one go, at most. */
const maxFiles = 2000;

/** What was dropped, folders with all that is in them; their names tell where in it. Hidden files are left out. */
async function droppedFiles(data: DataTransfer): Promise<readonly NamedFile[]> {
  // Only until the event is over does it tell what was dropped.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return namedFiles(data.files);
  const found: NamedFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

/** As a choice of files or of a folder gives them. */
function namedFiles(files: Iterable<File>): readonly NamedFile[] {
  return [...files]
    .map((content) => ({ name: content.webkitRelativePath || content.name, content }))
    .filter(({ name }) => !/(^|\/)\./.test(name));
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (found.length > maxFiles || entry.name.startsWith(".")) return;
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

type DocumentEntry = { readonly kind: "text" | "web"; readonly text: string };

/** Files by the button, dropped or pasted; texts; addresses. */
export function AddDocuments({ id, choices }: { readonly id: string; readonly choices: KnowledgeChoices | undefined }) {
  const [isOver, setOver] = useState(false);
  const [writing, setWriting] = useState<DocumentEntry>();
  const [problem, setProblem] = useState<string>();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);

  function add(chosen: readonly NamedFile[]): void {
    setProblem(
      chosen.length > maxFiles
        ? t`Only the first ${{ most: maxFiles }} of ${{ all: chosen.length }} files were added.`
        : undefined,
    );
    const most = choices?.documentBytes ?? Infinity;
    addFiles(id, chosen.slice(0, maxFiles), ({ size: bytes }) =>
      bytes > most ? t`This file exceeds the limit of ${{ most: size(most) }}.` : undefined,
    );
  }
  /** What was typed as the one is still there as the other. */
  function write(kind: DocumentEntry["kind"]): void {
    setWriting((before) => ({ kind, text: before?.text ?? "" }));
  }
  function choose(event: ChangeEvent<HTMLInputElement>): void {
    add(namedFiles(event.target.files ?? []));
    event.target.value = "";
  }

  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLElement && event.target.closest("input, textarea")) return;
      const pasted = [...(event.clipboardData?.files ?? [])];
      const text = event.clipboardData?.getData("text/plain").trim() ?? "";
      if (pasted.length > 0) add(namedFiles(pasted));
      else if (text !== "")
        setWriting((before) =>
          before
            ? { ...before, text: [before.text, text].filter((each) => each !== "").join("\n") }
            : { kind: text.split(/\s+/).every((word) => /^https?:\/\/\S/.test(word)) ? "web" : "text", text },
        );
      else return;
      event.preventDefault();
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  });

  return (
    <section
      aria-label={t`Add documents`}
      className="drop-zone"
      data-over={isOver}
      onDragOver={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(false);
        droppedFiles(event.dataTransfer).then(add, (error: unknown) => setProblem(String(error)));
      }}
    >
      <p className="text-muted">
        {isOver ? t`Drop files here` : t`Drop files or folders here, or paste a text or a web address.`}
      </p>
      <div className="flex flex-wrap gap-2">
        <button type="button" className="button-main" onClick={() => files.current?.click()}>
          <FileUp size={16} aria-hidden /> {t`Choose files`}
        </button>
        <button type="button" className="button" onClick={() => folder.current?.click()}>
          <FolderUp size={16} aria-hidden /> {t`Choose a folder`}
        </button>
        <button type="button" className="button" onClick={() => write("text")}>
          <Type size={16} aria-hidden /> {t`Write text`}
        </button>
        <button type="button" className="button" onClick={() => write("web")}>
          <Globe size={16} aria-hidden /> {t`From the web`}
        </button>
      </div>
      <input ref={files} type="file" multiple hidden onChange={choose} />
      <input ref={folder} type="file" multiple hidden {...{ webkitdirectory: "" }} onChange={choose} />
      <Problem text={problem} />
      {writing && (
        <Written
          key={writing.kind}
          id={id}
          writing={writing}
          onChange={(text) => setWriting({ ...writing, text })}
          onClose={() => setWriting(undefined)}
        />
      )}
    </section>
  );
}

type WrittenProps = {
  readonly id: string;
  readonly writing: DocumentEntry;
  readonly onChange: (text: string) => void;
  readonly onClose: () => void;
};

function Written({ id, writing: { kind, text }, onChange, onClose }: WrittenProps) {
  const [name, setName] = useState<string>(t`note.md`);
  const title = kind === "text" ? t`Text` : t`Web addresses, one per line`;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <Form
      name={title}
      submit={kind === "text" ? t`Add text` : t`Add addresses`}
      onSubmit={async () => {
        if (text.trim() === "") return;
        if (kind === "text") addText(id, { name, text });
        else
          addUrls(
            id,
            text
              .split("\n")
              .map((each) => each.trim())
              .filter((each) => each !== ""),
          );
        onClose();
      }}
      beside={
        <button type="button" className="button" onClick={onClose}>
          {t`Cancel`}
        </button>
      }
    >
      {kind === "text" && <TextField label={t`Name`} value={name} onChange={setName} isNeeded />}
      <Field label={kind === "text" ? t`Text` : title} isWide>
        {(control) => (
          <textarea
            {...control}
            ref={field}
            className="field w-full text-ink"
            rows={kind === "text" ? 8 : 4}
            value={text}
            required
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
