import { Paperclip, RefreshCw, X } from "lucide-react";
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { Attachment, Attachments } from "./attachment-store.ts";

export function AttachButton({ onChoose }: { readonly onChoose: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="icon-button" aria-label={t`Attach files`} onClick={() => input.current?.click()}>
        <Paperclip size={16} aria-hidden />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t`Attach files`}
        onChange={(event) => {
          onChoose([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </>
  );
}

export function AttachmentTiles({ all, remove, again }: Pick<Attachments, "all" | "remove" | "again">) {
  if (all.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 px-2 pt-1 pb-2 text-sm">
      {all.map((attachment) => (
        <li key={attachment.key} className="tile">
          {attachment.file && <Thumbnail file={attachment.file} />}
          <span className="min-w-0">
            <span dir="auto" className="block max-w-48 truncate">
              {attachment.name}
            </span>
            <StateOf attachment={attachment} />
          </span>
          {canGoAgain(attachment) && (
            <button
              type="button"
              className="icon-button"
              aria-label={t`Upload ${{ name: attachment.name }} again`}
              title={t`Upload ${{ name: attachment.name }} again`}
              onClick={() => again(attachment.key)}
            >
              <RefreshCw size={16} aria-hidden />
            </button>
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={t`Remove ${{ name: attachment.name }}`}
            onClick={() => remove(attachment.key)}
          >
            <X size={16} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function canGoAgain({ id, problem, file, isHopeless = false }: Attachment): boolean {
  return id === undefined && problem !== undefined && file !== undefined && !isHopeless;
}

function StateOf({ attachment: { part, id, problem } }: { readonly attachment: Attachment }) {
  if (problem !== undefined)
    return (
      <span role="alert" className="block max-w-64 text-xs text-bad">
        {problem}
      </span>
    );
  if (id !== undefined) return null;
  return (
    <span className="text-xs text-muted">{part < 1 ? t`${{ percent: Math.round(part * 100) }}%` : t`processing`}</span>
  );
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
      {isOver && <div className="drop-mark">{t`Drop files here`}</div>}
    </div>
  );
}
