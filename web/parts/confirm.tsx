import { useEffect, useId, useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import { Sheet } from "./sheet.tsx";
import { createListeners } from "../browser/listeners.ts";
import { pathNow, usePath, useQuery } from "../page/path.ts";
import "./dialog.css";

export type ConfirmText = {
  readonly title: string;
  /** What comes of it. */
  readonly text: string;
};

type SureOptions = ConfirmText & {
  /** What the button says that does it: the deed's own word. */
  readonly action: string;
  /** Whether something is lost by it. */
  readonly isGrave?: boolean;
};

type OpenConfirmation = SureOptions & {
  readonly id: number;
  /** The address at which it was asked. */
  readonly from: string;
  readonly answer: (isSure: boolean) => void;
};

let asked: readonly OpenConfirmation[] = [];
let count = 0;
const listeners = createListeners();
const yes = "yes";

function change(next: readonly OpenConfirmation[]): void {
  asked = next;
  listeners.tell();
}

/** Asks back before what can't be undone, one question after the other; false, too, once somebody is elsewhere. */
export function confirmAction(options: SureOptions): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const question: OpenConfirmation = {
    ...options,
    id: ++count,
    from: addressOf(pathNow(), new URLSearchParams(location.search)),
    answer(isSure) {
      change(asked.filter((each) => each !== question));
      resolve(isSure);
    },
  };
  change([...asked, question]);
  return promise;
}

/** Where questions are shown: once, behind all views. */
export function ConfirmDialog() {
  const all = useSyncExternalStore(listeners.listen, () => asked);
  const here = addressOf(usePath(), useQuery());
  const shown = all.find(({ from }) => from === here);
  useEffect(() => {
    for (const { from, answer } of all) if (from !== here) answer(false);
  }, [all, here]);
  return shown && <SureDialog key={shown.id} {...shown} />;
}

function addressOf(path: string, query: URLSearchParams): string {
  return `${path}?${query}`;
}

/** The browser itself gives the focus to the first button, which does no harm, and back to where it was. */
function SureDialog({ title, text, action, isGrave = true, answer }: OpenConfirmation) {
  const about = useId();
  return (
    <Sheet
      role="alertdialog"
      name={title}
      about={about}
      look="dialog max-w-md"
      onClose={(result) => answer(result === yes)}
    >
      <form method="dialog" className="grid gap-2 wrap-anywhere">
        <h2 className="text-lg leading-snug font-semibold text-balance">{title}</h2>
        <p id={about} className="text-sm">
          {text}
        </p>
        <div className="flex flex-wrap justify-end gap-2 pt-3">
          <button type="submit" className="button">
            {t`Cancel`}
          </button>
          <button type="submit" value={yes} className={`button-main ${isGrave ? "bg-bad" : ""}`}>
            {action}
          </button>
        </div>
      </form>
    </Sheet>
  );
}
