import { type ReactNode, useLayoutEffect, useRef } from "react";

type SheetProps = {
  readonly name: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly id?: string;
  readonly look?: string;
};

/** Above the page, which waits: the focus stays in it, Escape or a click beside it closes, and the focus goes back. */
export function Sheet({ name, onClose, children, id, look = "sheet" }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      id={id}
      className={look}
      aria-label={name}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      {children}
    </dialog>
  );
}
