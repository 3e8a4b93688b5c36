import { type MouseEvent, type ReactNode, useLayoutEffect, useState } from "react";
import { Layer } from "./menus/layer.ts";

type SheetProps = {
  readonly name: string;
  /** With what the button says that closed it, where there is a form that closes it. */
  readonly onClose: (result: string) => void;
  readonly children: ReactNode;
  readonly id?: string;
  readonly look?: string;
  readonly role?: "alertdialog";
  /** The id of what describes it. */
  readonly about?: string;
};

/** Above the page, which waits: the focus stays in it, Escape or a click beside it closes, and the focus goes back. */
export function Sheet({ name, onClose, children, id, look = "sheet", role, about }: SheetProps) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null);
  useLayoutEffect(() => {
    dialog?.showModal();
    return () => dialog?.close();
  }, [dialog]);
  return (
    <dialog
      ref={setDialog}
      id={id}
      role={role}
      className={look}
      aria-label={name}
      aria-describedby={about}
      onClose={(event) => onClose(event.currentTarget.returnValue)}
      onClick={(event) => {
        if (event.target === event.currentTarget && isBeside(event)) event.currentTarget.close();
      }}
    >
      <Layer value={dialog ?? undefined}>{children}</Layer>
    </dialog>
  );
}

/** Not at its own edge, where there is nothing to click. */
function isBeside({ clientX: x, clientY: y, currentTarget }: MouseEvent): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return x < left || x > right || y < top || y > bottom;
}
