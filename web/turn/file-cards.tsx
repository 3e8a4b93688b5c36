import { Download, File, FileText, Presentation } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { t } from "@lingui/core/macro";
import { size } from "../parts/format.ts";
import { DeckView, decksIn } from "./deck.tsx";

import { addressOfFile, isPicture, type MadeFile, maxMadeFiles } from "../markdown/made-files.ts";
import { PictureButton } from "../markdown/picture.tsx";
import type { PreviewKind } from "./file-preview.tsx";

const FilePreview = lazy(async () => ({ default: (await import("./file-preview.tsx")).FilePreview }));

/** What an agent made: pictures are seen, texts can be looked into, everything can be saved. */
export function FileCards({ files, root }: { readonly files: readonly MadeFile[]; readonly root: string }) {
  if (files.length === 0) return null;
  const { decks, rest: others } = decksIn(files);
  const shown = others.slice(0, maxMadeFiles);
  const pictures = shown.filter(isPicture);
  const rest = shown.filter((file) => !isPicture(file));
  return (
    <section aria-label={t`Files`} className="grid gap-2">
      {decks.slice(0, maxMadeFiles).map((deck) => (
        <DeckView key={deck.name} deck={deck} root={root} />
      ))}
      {pictures.length > 0 && (
        <ul className={pictures.length > 1 ? "picture-list" : ""}>
          {pictures.map((file) => (
            <li key={file.path} className="min-w-0">
              <PictureButton address={addressOfFile(root, file.path, file.version)} name={nameOf(file.path)} />
              <FileLine file={file} root={root} />
            </li>
          ))}
        </ul>
      )}
      {rest.length > 0 && (
        <ul className="grid gap-2">
          {rest.map((file) => (
            <li key={file.path}>
              <FileCard file={file} root={root} />
            </li>
          ))}
        </ul>
      )}
      {others.length > shown.length && (
        <p className="text-sm text-muted">{t`and ${{ count: others.length - shown.length }} more in the list of all files`}</p>
      )}
    </section>
  );
}

type FileCardProps = { readonly file: MadeFile; readonly root: string };

function FileCard({ file, root }: FileCardProps) {
  const [isOpen, setOpen] = useState(false);
  const kind = previewOf(file);
  return (
    <div className="file-card">
      <div className="flex min-w-0 items-center gap-2">
        <FileIcon path={file.path} />
        <FileLine file={file} root={root} />
        {kind !== undefined && (
          <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t`Hide` : t`Preview`}
            <span className="sr-only"> {nameOf(file.path)}</span>
          </button>
        )}
      </div>
      {isOpen && kind !== undefined && (
        <Suspense fallback={<p className="text-sm text-muted">{t`Loading…`}</p>}>
          <FilePreview address={addressOfFile(root, file.path, file.version)} kind={kind} bytes={file.bytes} />
        </Suspense>
      )}
    </div>
  );
}

function FileLine({ file: { path, bytes }, root }: FileCardProps) {
  return (
    <span className="flex min-w-0 grow items-center gap-2 text-sm">
      <span className="truncate" title={path}>
        {nameOf(path)}
      </span>
      <span className="text-xs whitespace-nowrap text-muted">{size(bytes)}</span>
      <a
        className="icon-button"
        href={addressOfFile(root, path)}
        download={nameOf(path)}
        aria-label={t`Download ${{ name: nameOf(path) }}`}
        title={t`Download ${{ name: nameOf(path) }}`}
      >
        <Download size={16} aria-hidden />
      </a>
    </span>
  );
}

function FileIcon({ path }: { readonly path: string }) {
  const Icon = /\.(pptx|odp|key)$/i.test(path)
    ? Presentation
    : /\.(md|txt|csv|tsv|json|pdf|docx)$/i.test(path)
      ? FileText
      : File;
  return <Icon size={16} aria-hidden className="flex-none text-muted" />;
}

/** How what is in a file can be shown; pages and programs are shown as text, so that nothing in them acts. */
function previewOf({ path, bytes }: MadeFile): PreviewKind | undefined {
  if (bytes === 0) return undefined;
  const end = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  if (end === "csv" || end === "tsv") return "table";
  if (end === "md") return "markdown";
  const language = languages.get(end);
  return language === undefined ? undefined : { language };
}

const languages = new Map([
  ["txt", "text"],
  ["log", "text"],
  ["json", "json"],
  ["jsonl", "json"],
  ["py", "python"],
  ["js", "javascript"],
  ["ts", "typescript"],
  ["html", "xml"],
  ["xml", "xml"],
  ["css", "css"],
  ["sql", "sql"],
  ["sh", "bash"],
  ["yaml", "yaml"],
  ["yml", "yaml"],
  ["toml", "ini"],
]);

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
