import { Autocomplete } from "@base-ui/react/autocomplete";
import { AtSign, MessageSquare, Users } from "lucide-react";
import { type ComponentType, useState } from "react";
import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { useAnswerers } from "../conversation/models-store.ts";
import { goTo } from "../page/path.ts";
import { reasonOf } from "../page/server.ts";
import { Problem } from "../parts/problem.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { useThreads } from "../threads/thread-queries.ts";
import { useSettled } from "../threads/use-settled.ts";
import { pathOfThread } from "../threads/thread-entry.tsx";
import { useCommands } from "./commands.ts";
import "../parts/dialog.css";
import "./palette.css";

type PaletteItem = {
  readonly id: string;
  readonly name: string;
  readonly about?: string;
  readonly icon: ComponentType<{ readonly size?: number; readonly "aria-hidden"?: boolean }>;
  readonly run: () => void;
};
type PaletteGroup = { readonly name: string; readonly items: readonly PaletteItem[] };

type PaletteProps = { readonly onClose: () => void; readonly onHelp: () => void };

/** Goes anywhere and does anything by a few letters: conversations by their text too, views, agents, commands, settings. */
export function Palette({ onClose, onHelp }: PaletteProps) {
  const [sought, setSought] = useState("");
  const settled = useSettled(sought.trim(), typingMs);
  const { threads, error } = useThreads(settled === "" ? { of: "recent" } : { of: "search", search: settled });
  const { agents } = useAnswerers();
  const commands = useCommands(onHelp);
  const isEmpty = sought.trim() === "";
  const fits = ({ name, about = "" }: PaletteItem) =>
    isEmpty || `${name} ${about}`.toLowerCase().includes(sought.trim().toLowerCase());
  const groups: readonly PaletteGroup[] = [
    { name: t`Commands`, items: commands.actions.filter(fits) },
    { name: t`Go to`, items: commands.places.filter(fits) },
    {
      name: t`Start with an agent`,
      items: agents
        .map(({ id, description }) => ({
          id: `agent-${id}`,
          name: `@${id}`,
          about: builtInText(description),
          icon: AtSign,
          run: () => goTo(`/?agent=${encodeURIComponent(id)}`),
        }))
        .filter(fits),
    },
  ];
  const conversations = {
    name: t`Conversations`,
    // Those used last say nothing of what is being typed.
    items: settled === "" && !isEmpty ? [] : threads.slice(0, most).map(itemOf),
  };
  // What is typed is mostly a command or a place; without words, the conversations used last are nearest.
  const shown = (isEmpty ? [conversations, ...groups] : [...groups, conversations]).filter(
    ({ items }) => items.length > 0,
  );

  return (
    <Sheet name={t`Search and commands`} look="dialog palette" onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        items={shown}
        filter={null}
        value={sought}
        autoHighlight="always"
        keepHighlight
        itemToStringValue={(item: PaletteItem) => item.name}
        onValueChange={(value, { reason }) => {
          if (reason !== "item-press") setSought(value);
        }}
      >
        <Autocomplete.Input
          className="palette-input"
          aria-label={t`Search and commands`}
          placeholder={t`Search conversations, or type a command`}
        />
        <Autocomplete.Empty className="p-4 text-sm text-muted empty:hidden">{t`Nothing found.`}</Autocomplete.Empty>
        <Problem text={error ? reasonOf(error) : undefined} />
        <Autocomplete.List className="palette-list">
          {(group: PaletteGroup) => (
            <Autocomplete.Group key={group.name} items={group.items}>
              <Autocomplete.GroupLabel className="palette-group">{group.name}</Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(item: PaletteItem) => (
                  <Autocomplete.Item
                    key={item.id}
                    value={item}
                    className="popover-item"
                    onClick={() => {
                      onClose();
                      item.run();
                    }}
                  >
                    <item.icon size={16} aria-hidden />
                    <span dir="auto" className="flex-none truncate max-w-full">
                      {item.name}
                    </span>
                    {item.about !== undefined && (
                      <span dir="auto" className="min-w-0 truncate text-xs text-muted">
                        {item.about}
                      </span>
                    )}
                  </Autocomplete.Item>
                )}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </Sheet>
  );
}

const most = 8;
/** Pause after typing before the server is asked. */
const typingMs = 150;

function itemOf(thread: ListedThread): PaletteItem {
  const { id, title, found, kind } = thread;
  const name = title === "" ? t`(no title)` : title;
  return {
    id: `thread-${id}`,
    name,
    ...(found && found.excerpt !== title && { about: found.excerpt }),
    icon: kind === "room" ? Users : MessageSquare,
    run: () => goTo(pathOfThread(thread)),
  };
}
