import { X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "@lingui/core/macro";
import { Sheet } from "./sheet.tsx";
import "./dialog.css";

type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ReactNode };

/** A sheet in the middle, with a title and a way out. */
export function Dialog({ title, onClose, children }: DialogProps) {
  return (
    <Sheet name={title} onClose={onClose} look="dialog">
      <div className="flex flex-col gap-4">
        <div className="flex items-center gap-2">
          <h2 className="grow text-lg font-semibold">{title}</h2>
          <button type="button" className="icon-button" aria-label={t`Close`} onClick={onClose}>
            <X size={16} aria-hidden />
          </button>
        </div>
        {children}
      </div>
    </Sheet>
  );
}
