import { Tooltip } from "@base-ui/react/tooltip";
import { useEffect, useState } from "react";

const restMs = 400;

/** Shows the name of an icon where the pointer rests on it or the keyboard comes to it: one for all icons of the page. */
export function Tips() {
  const [icon, setIcon] = useState<HTMLElement>();
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const show = (target: EventTarget | null, afterMs: number) => {
      clearTimeout(waiting);
      const found = target instanceof Element ? target.closest<HTMLElement>(".icon-button[aria-label]") : null;
      if (!found || found.ariaExpanded === "true") return setIcon(undefined);
      waiting = setTimeout(() => setIcon(found), afterMs);
    };
    const onOver = ({ target, pointerType }: PointerEvent) => pointerType === "mouse" && show(target, restMs);
    const onFocus = ({ target }: FocusEvent) =>
      show(target instanceof Element && target.matches(":focus-visible") ? target : null, restMs);
    const hide = () => show(null, 0);
    addEventListener("pointerover", onOver);
    addEventListener("focusin", onFocus);
    addEventListener("focusout", hide);
    addEventListener("pointerdown", hide);
    addEventListener("keydown", hide);
    return () => {
      clearTimeout(waiting);
      removeEventListener("pointerover", onOver);
      removeEventListener("focusin", onFocus);
      removeEventListener("focusout", hide);
      removeEventListener("pointerdown", hide);
      removeEventListener("keydown", hide);
    };
  }, []);
  // Taken away under the pointer, as with the list it stood in.
  if (!icon?.isConnected) return null;
  return (
    <Tooltip.Root open onOpenChange={(isOpen) => !isOpen && setIcon(undefined)}>
      <Tooltip.Portal container={icon.closest("dialog") ?? undefined}>
        <Tooltip.Positioner
          className="popover-place"
          anchor={icon}
          side={icon.closest("[data-folded]") ? "inline-end" : "bottom"}
          sideOffset={4}
          collisionPadding={8}
        >
          <Tooltip.Popup className="tip">{icon.ariaLabel}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
