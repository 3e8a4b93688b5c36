import { PanelLeftClose, PanelLeftOpen, Search, SquarePen } from "lucide-react";
import { t } from "@lingui/core/macro";
import { goTo } from "../page/path.ts";
import { useAvailableViews, type View } from "../page/view-list.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { ThreadList } from "../threads/thread-list.tsx";
import { endSearch } from "../threads/list-view.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Mark } from "./mark.tsx";
import "./sidebar.css";

type SidebarProps = {
  readonly current: View;
  readonly threadId: string | undefined;
  /** Only icons, in a narrow column. */
  readonly isFolded: boolean;
  readonly onFold: () => void;
  /** Called when something was chosen, here or in the menu. */
  readonly onChoose: () => void;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
};

/** Everything that can be gone to, in one column: conversations and rooms, the other views, the reader's own account. */
export function Sidebar({ current, threadId, isFolded, onFold, onChoose, onPalette, onHelp }: SidebarProps) {
  const begin = () => {
    endSearch();
    goTo("/");
    onChoose();
  };
  const fold = isFolded ? t`Expand sidebar` : t`Collapse sidebar`;
  const Fold = isFolded ? PanelLeftOpen : PanelLeftClose;
  return (
    <>
      <div className="sidebar-head">
        <PageLink to="/" look="brand" onFollow={onChoose}>
          <Mark /> <span className="sidebar-word">Colloquy</span>
        </PageLink>
        <IconButton name={t`Search and commands`} icon={Search} onPress={onPalette} />
        <button type="button" className="icon-button" aria-label={fold} aria-expanded={!isFolded} onClick={onFold}>
          <Fold size={16} aria-hidden className="rtl:-scale-x-100" />
        </button>
      </div>
      {isFolded ? (
        <div className="sidebar-fold">
          <IconButton name={t`New conversation`} icon={SquarePen} onPress={begin} />
        </div>
      ) : (
        <ThreadList current={threadId} onChoose={onChoose} onBegin={begin} />
      )}
      <nav aria-label={t`Menu`} className="view-menu">
        {useAvailableViews()
          .filter(({ isElsewhere = false }) => !isElsewhere)
          .map((view) => (
            <ViewLink key={view.path} view={view} isFolded={isFolded} current={current} onChoose={onChoose} />
          ))}
      </nav>
      <AccountMenu isFolded={isFolded} onChoose={onChoose} onHelp={onHelp} />
    </>
  );
}

type IconButtonProps = { readonly name: string; readonly icon: View["icon"]; readonly onPress: () => void };

function IconButton({ name, icon: Icon, onPress }: IconButtonProps) {
  return (
    <button type="button" className="icon-button" aria-label={name} onClick={onPress}>
      <Icon size={16} aria-hidden />
    </button>
  );
}

type ViewLinkProps = Pick<SidebarProps, "current" | "isFolded" | "onChoose"> & { readonly view: View };

function ViewLink({ view: { path, name, icon: Icon }, isFolded, current, onChoose }: ViewLinkProps) {
  return (
    <PageLink
      to={`/${path}`}
      look={isFolded ? "icon-button" : "view-link"}
      label={isFolded ? name : undefined}
      isCurrent={current.path === path}
      onFollow={onChoose}
    >
      <Icon size={16} aria-hidden /> {!isFolded && <span className="truncate">{name}</span>}
    </PageLink>
  );
}
