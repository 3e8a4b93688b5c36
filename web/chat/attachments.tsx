import { Paperclip, X } from "lucide-react";
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { newId } from "../../src/protocol/ids.ts";
import { client, reasonOf } from "../server.ts";
import { words } from "../words.ts";

export type Attachment = {
  readonly key: string;
  readonly file: File;
  /** How much of it is there, from 0 to 1. */
  readonly part: number;
  /** Once the server has read it. */
  readonly id?: string;
  /** Why it can't be sent, or not be read. */
  readonly problem?: string;
};

export type Attachments = {
  readonly all: readonly Attachment[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (key: string) => void;
  /** Their ids, and none are left; undefined while some are on their way. */
  readonly take: () => readonly string[] | undefined;
};

/** Files that will go with the next message. */
export function useAttachments(): Attachments {
  const [all, setAll] = useState<readonly Attachment[]>([]);
  const stops = useRef(new Map<string, AbortController>());
  useEffect(() => () => stops.current.forEach((stop) => stop.abort()), []);

  const change = (key: string, to: Partial<Attachment>) =>
    setAll((before) => before.map((each) => (each.key === key ? { ...each, ...to } : each)));

  return {
    all,
    add(files) {
      for (const file of files) {
        const key = newId();
        const stop = new AbortController();
        stops.current.set(key, stop);
        setAll((before) => [...before, { key, file, part: 0 }]);
        client.uploads
          .send(file, { onProgress: (part) => change(key, { part }), signal: stop.signal })
          .then(({ id, problem }) => change(key, { id, part: 1, ...(problem === null ? {} : { problem }) }))
          .catch((error: unknown) => {
            if (!stop.signal.aborted) change(key, { problem: reasonOf(error) });
          });
      }
    },
    remove(key) {
      stops.current.get(key)?.abort();
      setAll((before) => before.filter((each) => each.key !== key));
    },
    take() {
      if (all.some(({ id, problem }) => id === undefined && problem === undefined)) return undefined;
      setAll([]);
      return all.flatMap(({ id }) => id ?? []);
    },
  };
}

export function AttachButton({ onChoose }: { readonly onChoose: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="icon-button" aria-label={words.attach} onClick={() => input.current?.click()}>
        <Paperclip size={16} aria-hidden />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={words.attach}
        onChange={(event) => {
          onChoose([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </>
  );
}

export function AttachmentTiles({ all, remove }: Pick<Attachments, "all" | "remove">) {
  if (all.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 px-2 pt-1 pb-2 text-sm">
      {all.map((attachment) => (
        <li key={attachment.key} className="tile">
          <Thumbnail file={attachment.file} />
          <span className="min-w-0">
            <span className="block max-w-48 truncate">{attachment.file.name}</span>
            <StateOf attachment={attachment} />
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={words.removeFile(attachment.file.name)}
            onClick={() => remove(attachment.key)}
          >
            <X size={16} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function StateOf({ attachment: { part, id, problem } }: { readonly attachment: Attachment }) {
  if (problem !== undefined)
    return (
      <span role="alert" className="block max-w-64 text-xs text-bad">
        {problem}
      </span>
    );
  if (id !== undefined) return null;
  return <span className="text-xs text-muted">{part < 1 ? words.uploading(part) : words.reading}</span>;
}

function Thumbnail({ file }: { readonly file: File }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) return undefined;
    const url = URL.createObjectURL(file);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  return address === undefined ? null : <img src={address} alt="" className="size-10 rounded-control object-cover" />;
}

/** Files may be dropped anywhere on it. */
export function DropZone({
  onDrop,
  children,
}: {
  readonly onDrop: (files: Iterable<File>) => void;
  readonly children: ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  return (
    <div
      className="relative flex min-h-0 flex-1 flex-col"
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        onDrop([...event.dataTransfer.files]);
      }}
      onPaste={(event) => {
        const files = [...event.clipboardData.files];
        if (files.length === 0) return;
        event.preventDefault();
        onDrop(files);
      }}
    >
      {children}
      {isOver && <div className="drop-mark">{words.dropHere}</div>}
    </div>
  );
}
