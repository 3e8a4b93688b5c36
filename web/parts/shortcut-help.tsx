import { shownKeys, type ShortcutKeys } from "../browser/keys.ts";
import { useAvailableViews } from "../page/view-list.tsx";
import { Dialog } from "./dialog.tsx";
import { PageLink } from "./page-link.tsx";
import { type ShortcutName, actions, useShortcuts } from "../browser/shortcuts.ts";
import { words } from "../words/words.ts";

/** What each key does. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { isOn, keys } = useShortcuts();
  const actionName = useActionName();
  return (
    <Dialog title={words.shortcuts} onClose={onClose}>
      {!isOn && <p className="text-sm">{words.shortcutsOff}</p>}
      <dl className="key-list">
        {actions
          .filter((action) => keys[action] !== "" && actionName(action) !== undefined)
          .map((action) => (
            <div key={action}>
              <dt>{actionName(action)}</dt>
              <dd>
                <KeysShown keys={keys[action]} />
              </dd>
            </div>
          ))}
      </dl>
      <p className="text-sm">
        <PageLink to="/settings/shortcuts" onFollow={onClose}>
          {words.changeShortcuts}
        </PageLink>
      </p>
    </Dialog>
  );
}

/** Undefined: it leads to a view that is not there. */
export function useActionName(): (action: ShortcutName) => string | undefined {
  const offered = useAvailableViews();
  return (action) => {
    const to = action.startsWith("go-") ? action.slice(3) : undefined;
    if (to === undefined) return words.actions[action as keyof typeof words.actions];
    const view = offered.find(({ path }) => path === to);
    return view && words.goTo(view.name);
  };
}

export function KeysShown({ keys }: { readonly keys: ShortcutKeys }) {
  return (
    <span className="whitespace-nowrap">
      {shownKeys(keys).map((parts, press) => (
        <span key={press}>
          {press > 0 && ` ${words.then} `}
          {parts.map((part, at) => (
            <span key={at}>
              {at > 0 && " + "}
              <kbd>{words.keyNames[part] ?? part}</kbd>
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
