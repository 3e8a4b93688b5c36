import { t } from "@lingui/core/macro";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { size } from "../parts/format.ts";
import { server } from "../page/server.ts";
import { CodeText, Formatted } from "../markdown/formatted.tsx";

import { beginningOf } from "../../src/client/files.ts";

/** Of a file; the rest is in the file itself. */
const maxBytes = 64 * 1024;
const maxRows = 100;

/** How what is in a file can be shown. */
export type PreviewKind = "table" | "markdown" | { readonly language: string };

type PreviewProps = { readonly address: string; readonly kind: PreviewKind; readonly bytes: number };

/** The beginning of a text. */
export function FilePreview({ address, kind, bytes }: PreviewProps) {
  const loaded = useAnswer(["file", address], (signal) =>
    beginningOf(server, { path: `/${address}`, bytes: maxBytes, signal }),
  );
  if (loaded.data === undefined) return <Waiting of={loaded} />;
  return (
    <div className="mt-2 max-h-96 overflow-auto text-sm" tabIndex={0} role="region" aria-label={t`Contents`}>
      <Content text={loaded.data} kind={kind} />
      {bytes > maxBytes && <p className="text-muted">{t`Showing only the first ${{ size: size(maxBytes) }}.`}</p>}
    </div>
  );
}

function Content({ text, kind }: { readonly text: string; readonly kind: PreviewKind }) {
  if (kind === "markdown") return <Formatted text={text} />;
  if (kind !== "table") return <CodeText text={text} language={kind.language} />;
  const [head = [], ...rows] = rowsOf(text, maxRows + 1);
  return (
    <table dir="auto" className="preview-table">
      <thead>
        <tr>
          {head.map((cell, at) => (
            <th key={at} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The first rows of a table whose cells are parted by commas, semicolons or tabs. */
export function rowsOf(text: string, most: number): readonly (readonly string[])[] {
  const line = text.slice(0, text.indexOf("\n") >>> 0);
  const parted = line.includes("\t") ? "\t" : line.includes(";") && !line.includes(",") ? ";" : ",";
  const rows: string[][] = [];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${parted}\\r\\n]*)(${parted}|\\r?\\n|$)`, "gy");
  let row: string[] = [];
  for (let match = cell.exec(text); match && rows.length < most; match = cell.exec(text)) {
    const [whole, value = "", end = ""] = match;
    if (whole === "" && row.length === 0) break;
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end !== parted) {
      rows.push(row.slice(0, 50));
      row = [];
    }
    if (whole === "") break;
  }
  return rows;
}
