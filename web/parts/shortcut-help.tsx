import { t } from "@lingui/core/macro";
import { shownKeys, type ShortcutKeys } from "../browser/keys.ts";
import { useAvailableViews } from "../page/view-list.tsx";
import { Dialog } from "./dialog.tsx";
import { PageLink } from "./page-link.tsx";
import { type ShortcutName, actions, useShortcuts } from "../browser/shortcuts.ts";

const actionNames = {
  palette: t`Search and commands`,
  "new-conversation": t`New conversation`,
  search: t`Search conversations`,
  "toggle-list": t`Collapse or expand the sidebar`,
  "focus-composer": t`Go to the message field`,
  stop: t`Stop running agents`,
  "copy-last-reply": t`Copy the last answer`,
  "answer-again": t`Retry`,
  theme: t`Switch theme`,
  help: t`Show this help`,
};

const keyNames: Readonly<Record<string, string>> = {
  ...{
    Ctrl: t({ context: "key", message: `Ctrl` }),
    Shift: t({ context: "key", message: `Shift` }),
    Enter: t({ context: "key", message: `Enter` }),
    Space: t({ context: "key", message: `Space` }),
    Backspace: t({ context: "key", message: `Backspace` }),
  },
  ...{
    Delete: t({ context: "key", message: `Delete` }),
    Insert: t({ context: "key", message: `Insert` }),
    Home: t({ context: "key", message: `Home` }),
    End: t({ context: "key", message: `End` }),
    PageUp: t({ context: "key", message: `Page Up` }),
    PageDown: t({ context: "key", message: `Page Down` }),
  },
};

/** What each key does. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { isOn, keys } = useShortcuts();
  const actionName = useActionName();
  return (
    <Dialog title={t`Keyboard shortcuts`} onClose={onClose}>
      {!isOn && <p className="text-sm">{t`All shortcuts are turned off.`}</p>}
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
          {t`Change or turn off`}
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
    if (to === undefined) return actionNames[action as keyof typeof actionNames];
    const view = offered.find(({ path }) => path === to);
    return view && t`Go to ${{ view: view.name }}`;
  };
}

export function KeysShown({ keys }: { readonly keys: ShortcutKeys }) {
  return (
    <span className="whitespace-nowrap">
      {shownKeys(keys).map((parts, press) => (
        <span key={press}>
          {press > 0 && ` ${t`then`} `}
          {parts.map((part, at) => (
            <span key={at}>
              {at > 0 && " + "}
              <kbd>{keyNames[part] ?? part}</kbd>
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
