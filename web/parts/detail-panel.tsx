import { X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "@lingui/core/macro";
import { useHasPanelRoom } from "../browser/screen-width.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { Sheet } from "./sheet.tsx";
import "./detail-panel.css";

/** What stands beside the view, as its address says: `?panel=files`. */
export function usePanel(): { readonly shown: string | undefined; readonly show: (panel: string | undefined) => void } {
  const shown = useQuery().get("panel") ?? undefined;
  return { shown, show: (panel) => changeQuery({ panel }) };
}

type DetailPanelProps = { readonly name: string; readonly children: ReactNode };

/** Beside the view where there is room, else above it. */
export function DetailPanel({ name, children }: DetailPanelProps) {
  const hasRoom = useHasPanelRoom();
  const { show } = usePanel();
  const close = () => show(undefined);
  const inside = (
    <>
      <div className="flex items-center">
        <h2 className="grow font-semibold">{name}</h2>
        <button type="button" className="icon-button" aria-label={t`Close`} onClick={close}>
          <X size={16} aria-hidden />
        </button>
      </div>
      {children}
    </>
  );
  return hasRoom ? (
    <aside aria-label={name} className="detail-panel">
      {inside}
    </aside>
  ) : (
    <Sheet name={name} look="side-sheet" onClose={close}>
      <div className="detail-inside">{inside}</div>
    </Sheet>
  );
}
