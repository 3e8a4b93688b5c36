import { useState } from "react";
import { t } from "@lingui/core/macro";
import { KeysShown, useActionName } from "../parts/shortcut-help.tsx";
import { isPlain, keysOf, reservedFor } from "../browser/keys.ts";
import { Problem } from "../parts/problem.tsx";
import { Table } from "../parts/table.tsx";
import { type ShortcutName, actions, defaultKeys, setShortcuts, useShortcuts } from "../browser/shortcuts.ts";

const problemTexts = {
  browser: t`The browser reserves these keys.`,
  editing: t`These keys are needed for writing and reading.`,
  plain: t`Shortcuts without Ctrl work only outside text fields.`,
};

/** Which keys do what: each changed, switched off, and back. */
export function ShortcutTable() {
  const { isOn, keys } = useShortcuts();
  const actionName = useActionName();
  const [changed, setChanged] = useState<ShortcutName>();
  const [problem, setProblem] = useState<string>();
  const set = (action: ShortcutName, value: string) => {
    setShortcuts({ isOn, keys: { ...keys, [action]: value } });
    setChanged(undefined);
    setProblem(undefined);
  };

  /** Keys that are free are taken at once; of others it is said what they do. Afterwards the focus is where one came from. */
  function take(action: ShortcutName, event: React.KeyboardEvent): void {
    const { nativeEvent } = event;
    if (nativeEvent.key === "Tab") return;
    const pressed = keysOf(nativeEvent);
    if (pressed === undefined) return;
    event.preventDefault();
    const back = () => event.currentTarget.closest("tr")?.querySelector<HTMLElement>(".row-actions > button")?.focus();
    // Without the focus it changes nothing more.
    if (pressed === "Escape") return back();
    const other = actions.find((each) => each !== action && firstOf(keys[each]) === pressed);
    const taken = reservedFor(pressed);
    if (taken !== undefined) setProblem(problemTexts[taken]);
    else if (other !== undefined) setProblem(t`Already used for: ${{ what: actionName(other) ?? other }}.`);
    else {
      set(action, pressed);
      back();
    }
  }

  const shown = actions.filter((action) => actionName(action) !== undefined);
  return (
    <div className="dense-view grid grid-cols-[minmax(0,1fr)] gap-4">
      <label className="check-line">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => setShortcuts({ isOn: event.target.checked, keys })}
        />
        {t`Enable keyboard shortcuts`}
      </label>
      <Table name={t`Keyboard shortcuts`} head={[t`Action`, t`Keys`]}>
        {shown.map((action) => {
          const name = actionName(action);
          return (
            <tr key={action}>
              <th scope="row">{name}</th>
              <td>
                <div className="shortcut-keys">
                  {changed === action ? (
                    <div>
                      <button
                        type="button"
                        className="button"
                        autoFocus
                        aria-label={`${t`Press the keys…`} ${name}`}
                        onKeyDown={(event) => take(action, event)}
                        onBlur={() => {
                          setChanged(undefined);
                          setProblem(undefined);
                        }}
                      >
                        {t`Press the keys…`}
                      </button>
                      <div className="text-muted">{t`Escape cancels.`}</div>
                      <Problem text={problem} />
                    </div>
                  ) : keys[action] === "" ? (
                    <span className="text-muted">{t`off`}</span>
                  ) : (
                    <KeysShown keys={keys[action]} />
                  )}
                  <div className="row-actions">
                    <button
                      type="button"
                      className="button"
                      aria-label={`${t`Change`}: ${name}`}
                      onClick={() => setChanged(action)}
                    >
                      {t`Change`}
                    </button>
                    {keys[action] !== "" && (
                      <button
                        type="button"
                        className="button"
                        aria-label={`${t`Turn off`}: ${name}`}
                        onClick={() => set(action, "")}
                      >
                        {t`Turn off`}
                      </button>
                    )}
                    {keys[action] !== defaultKeys[action] && (
                      <button
                        type="button"
                        className="button"
                        aria-label={`${t`Reset`}: ${name}`}
                        onClick={() => set(action, defaultKeys[action])}
                      >
                        {t`Reset`}
                      </button>
                    )}
                  </div>
                </div>
              </td>
            </tr>
          );
        })}
      </Table>
      {shown.some((action) => isPlain(keys[action])) && (
        <p className="text-muted">{t`Shortcuts without Ctrl work only outside text fields.`}</p>
      )}
      <div>
        <button type="button" className="button" onClick={() => setShortcuts({ isOn: true, keys: defaultKeys })}>
          {t`Reset all`}
        </button>
      </div>
    </div>
  );
}

/** Of two keys one after the other, the first is taken too. */
function firstOf(keys: string): string {
  return keys.split(" ")[0] ?? "";
}
