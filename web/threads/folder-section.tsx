import { ArrowDown, ArrowUp, ChevronRight, Ellipsis, SquarePen, Settings2, Trash2 } from "lucide-react";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { goTo } from "../page/path.ts";
import { reasonOf } from "../page/server.ts";
import { confirmAction } from "../parts/confirm.tsx";
import { Menu } from "../parts/menus/menu.tsx";
import { Problem } from "../parts/problem.tsx";
import { Act } from "../parts/action-button.tsx";
import { lists } from "./list-client.ts";
import { ThreadEntry } from "./thread-entry.tsx";
import { threadsChanged, useThreads } from "./thread-queries.ts";

/** Ids of the folders that are open in this browser, by spaces. */
const openFolders = createStoredChoice("open-folders");

type FolderSectionProps = {
  readonly folder: FolderView;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onEdit: () => void;
};

/** A folder in the list: closed it is a line, open it shows what is in it. */
export function FolderSection({ folder: { id, name, position }, isFirst, isLast, onEdit }: FolderSectionProps) {
  const open = openFolders.use().split(" ");
  const isOpen = open.includes(id);
  const [problem, setProblem] = useState<string>();
  const tell = (work: Promise<unknown>) => {
    setProblem(undefined);
    work.then(threadsChanged, (error: unknown) => setProblem(reasonOf(error)));
  };
  const move = (to: number) => tell(lists.changeFolder(id, { position: to }));
  async function remove(): Promise<void> {
    const isSure = await confirmAction({
      title: t`Delete the folder ${name}?`,
      text: t`What is in it stays, outside of any folder.`,
      action: t`Delete`,
    });
    if (isSure) await lists.removeFolder(id);
  }
  return (
    <section aria-label={name} className="folder">
      <div className="folder-head">
        <button
          type="button"
          className="folder-name"
          aria-expanded={isOpen}
          onClick={() =>
            openFolders.set((isOpen ? open.filter((each) => each !== id) : [...open, id]).join(" ").trim())
          }
        >
          <ChevronRight size={14} aria-hidden className={isOpen ? "rotate-90" : "rtl:-scale-x-100"} />
          <span dir="auto" className="min-w-0 truncate">
            {name}
          </span>
        </button>
        <span className="thread-actions">
          <Menu
            name={t`More options: ${name}`}
            icon={Ellipsis}
            entries={[
              { name: t`New conversation here`, icon: SquarePen, onChoose: () => goTo(`/?folder=${id}`) },
              { name: t`Folder settings`, icon: Settings2, onChoose: onEdit },
              ...(isFirst ? [] : [{ name: t`Move up`, icon: ArrowUp, onChoose: () => move(position - 1) }]),
              ...(isLast ? [] : [{ name: t`Move down`, icon: ArrowDown, onChoose: () => move(position + 1) }]),
              { name: t`Delete folder`, icon: Trash2, isGrave: true, onChoose: () => tell(remove()) },
            ]}
          />
        </span>
      </div>
      <Problem text={problem} />
      {isOpen && <FolderContent id={id} />}
    </section>
  );
}

function FolderContent({ id }: { readonly id: string }) {
  const { threads, readMore, isLoaded, error } = useThreads({ of: "folder", folder: id });
  return (
    <>
      {isLoaded && threads.length === 0 && <p className="px-6 py-1 text-xs text-muted">{t`This folder is empty.`}</p>}
      <ul className="folder-content">
        {threads.map((thread) => (
          <ThreadEntry key={thread.id} thread={thread} />
        ))}
      </ul>
      {readMore && <Act onAct={readMore}>{t`Show more`}</Act>}
      <Problem text={error ? reasonOf(error) : undefined} />
    </>
  );
}
