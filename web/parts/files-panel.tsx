import { Download, Trash2, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { WorkspaceFileClient } from "../../src/client/files.ts";
import { encodedPath } from "../../src/client/request.ts";
import { size } from "./format.ts";
import { useAnswer } from "./answers.ts";
import { Problem } from "./problem.tsx";
import { useAct } from "./action-button.tsx";
import { Waiting } from "./waiting.tsx";
import { confirmAction } from "./confirm.tsx";

type FilesPanelProps = {
  readonly files: WorkspaceFileClient;
  /** Where they are given out, below the page's own address. */
  readonly root: string;
  /** They are looked up again whenever it changes. */
  readonly round: string;
};

/** Others put files there too, of which no events tell. */
const lookMs = 10_000;
/** At first. */
const shownFiles = 50;

/** All files of a conversation: saved, added, removed. */
export function FilesPanel({ files, root, round }: FilesPanelProps) {
  const loaded = useAnswer(["files", root, round], (signal) => files.list({}, signal), { everyMs: () => lookMs });
  const [maxShown, setMostShown] = useState(shownFiles);
  const input = useRef<HTMLInputElement>(null);
  const adding = useAct(async (added: readonly File[]) => {
    for (const file of added) await files.upload(file.name, new Uint8Array(await file.arrayBuffer()));
    loaded.reload();
  });
  const removing = useAct(
    (path: string) => files.remove(path).then(loaded.reload),
    (path) =>
      confirmAction({
        ...{ title: t`Remove this file?`, text: t`${{ name: path }} will be permanently deleted.` },
        action: t`Remove`,
      }),
  );
  const all = loaded.data?.data.filter(({ kind }) => kind === "file") ?? [];
  return (
    <section aria-label={t`Files`}>
      <div className="flex items-center gap-2">
        <h2 className="grow font-semibold">
          {t`Files`} {all.length > 0 && <span className="font-normal text-muted">{all.length}</span>}
        </h2>
        <button
          type="button"
          className="icon-button"
          aria-label={t`Add files`}
          title={t`Add files`}
          disabled={adding.isBusy}
          onClick={() => input.current?.click()}
        >
          <Upload size={16} aria-hidden />
        </button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t`Add files`}
          onChange={(event) => {
            adding.act([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
      </div>
      <Problem text={adding.problem ?? removing.problem} />
      <Waiting of={loaded} />
      {loaded.data !== undefined && all.length === 0 && <p className="text-muted">{t`No files yet.`}</p>}
      <ul>
        {all.slice(0, maxShown).map(({ path, bytes }) => (
          <li key={path} className="flex min-h-8 items-center gap-2 text-sm">
            <span className="min-w-0 grow truncate" title={path}>
              {path}
            </span>
            <span className="text-xs whitespace-nowrap text-muted">{size(bytes)}</span>
            <a
              className="icon-button"
              href={`${root}/${encodedPath(path)}`}
              download
              aria-label={t`Download ${{ name: path }}`}
              title={t`Download ${{ name: path }}`}
            >
              <Download size={16} aria-hidden />
            </a>
            <button
              type="button"
              className="icon-button"
              aria-label={t`Remove ${{ name: path }}`}
              title={t`Remove ${{ name: path }}`}
              disabled={removing.isBusy}
              onClick={() => removing.act(path)}
            >
              <Trash2 size={16} aria-hidden />
            </button>
          </li>
        ))}
      </ul>
      {all.length > maxShown && (
        <button type="button" className="button" onClick={() => setMostShown(maxShown + 10 * shownFiles)}>
          {t`Show all ${{ count: all.length }}`}
        </button>
      )}
    </section>
  );
}
