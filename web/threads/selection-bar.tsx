import { Archive, CircleCheck, Ellipsis, FolderInput, Pin, Trash2, X } from "lucide-react";
import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import type { PlaceInput } from "../../src/client/lists.ts";
import { goTo, pathNow } from "../page/path.ts";
import { reasonOf } from "../page/server.ts";
import { confirmAction } from "../parts/confirm.tsx";
import { Menu } from "../parts/menus/menu.tsx";
import { Problem } from "../parts/problem.tsx";
import { folderEntries } from "./thread-entry.tsx";
import { placeThreads } from "./thread-queries.ts";

type SelectionBarProps = {
  readonly selected: ReadonlySet<string>;
  readonly folders: readonly FolderView[];
  readonly onNewFolder: () => void;
  readonly onDone: () => void;
};

/** What can be done with all that are selected at once. */
export function SelectionBar({ selected, folders, onNewFolder, onDone }: SelectionBarProps) {
  const [problem, setProblem] = useState<string>();
  const ids = [...selected];
  const act = (place: PlaceInput | { readonly delete: true }) => {
    setProblem(undefined);
    placeThreads(ids, place).then(onDone, (error: unknown) => setProblem(reasonOf(error)));
  };
  async function remove(): Promise<void> {
    const isSure = await confirmAction({
      title: plural(ids.length, { one: "Delete # conversation?", other: "Delete # conversations?" }),
      text: t`Everything in them will be permanently deleted. This can't be undone.`,
      action: t`Delete`,
    });
    if (!isSure) return;
    act({ delete: true });
    if (ids.some((id) => pathNow() === `/chat/${id}`)) goTo("/");
  }
  return (
    <div role="group" aria-label={t`Selected conversations`} className="selection-bar">
      <span className="flex-1 truncate" role="status">
        {plural(ids.length, { one: "# selected", other: "# selected" })}
      </span>
      <Menu
        name={t`Do with the selected`}
        icon={Ellipsis}
        entries={[
          { name: t`Archive`, icon: Archive, onChoose: () => act({ archived: true }) },
          { name: t`Pin`, icon: Pin, onChoose: () => act({ pinned: true }) },
          {
            name: t`Move to folder`,
            icon: FolderInput,
            entries: folderEntries(folders, undefined, {
              onMove: (folderId) => act({ folderId }),
              onNew: onNewFolder,
            }),
          },
          { name: t`Mark as read`, icon: CircleCheck, onChoose: () => act({ read: true }) },
          { name: t`Delete`, icon: Trash2, isGrave: true, onChoose: () => void remove() },
        ]}
      />
      <button type="button" className="icon-button" aria-label={t`End selection`} onClick={onDone}>
        <X size={16} aria-hidden />
      </button>
      <Problem text={problem} />
    </div>
  );
}
