import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Check, ChevronRight } from "lucide-react";
import { type ComponentType, type ReactNode, useContext } from "react";
import { Layer } from "./layer.ts";
import "./popover.css";

export type MenuEntry = {
  readonly name: string;
  readonly icon: ComponentType<{ readonly size?: number; readonly "aria-hidden"?: boolean }>;
  /** Does it here; `href` leads to a file instead. */
  readonly onChoose?: () => void;
  readonly href?: string;
  readonly isGrave?: boolean;
  /** Opens these beside it. */
  readonly entries?: readonly MenuEntry[];
  /** One of several, of which the menu says which holds. */
  readonly isChosen?: boolean;
};

type MenuProps = {
  readonly name: string;
  readonly icon: MenuEntry["icon"];
  readonly entries: readonly MenuEntry[];
  /** Not a stop of the Tab key, since something beside it opens it by a key. */
  readonly isSkipped?: boolean | undefined;
};

/** An icon with what can be done behind it. */
export function Menu({ name, icon: Icon, entries, isSkipped }: MenuProps) {
  return (
    <MenuBehind name={name} look="icon-button" entries={entries} isSkipped={isSkipped}>
      <Icon size={16} aria-hidden />
    </MenuBehind>
  );
}

type MenuBehindProps = Omit<MenuProps, "icon"> & {
  readonly look: string;
  /** What the button shows. */
  readonly children: ReactNode;
};

/** The same behind a button of any look. */
export function MenuBehind({ name, look, entries, isSkipped = false, children }: MenuBehindProps) {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger className={look} aria-label={name} {...(isSkipped && { tabIndex: -1 })}>
        {children}
      </BaseMenu.Trigger>
      <Popup name={name} entries={entries} />
    </BaseMenu.Root>
  );
}

function Popup({ name, entries }: Omit<MenuProps, "icon">) {
  return (
    <BaseMenu.Portal container={useContext(Layer)}>
      <BaseMenu.Positioner className="popover-place" align="start" sideOffset={4} collisionPadding={8}>
        <BaseMenu.Popup className="popover" aria-label={name}>
          {entries.map((entry) => (
            <Entry key={entry.name} {...entry} />
          ))}
        </BaseMenu.Popup>
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  );
}

/** Once the menu has given the focus back to its button: what opens now returns it there. */
const afterClosing = (deed: (() => void) | undefined) => () => void setTimeout(() => deed?.());

function Entry({ name, icon: Icon, onChoose, href, isGrave = false, entries, isChosen }: MenuEntry) {
  const look = `popover-item ${isGrave ? "text-bad" : ""}`;
  const inside = (
    <>
      <Icon size={16} aria-hidden /> {name}
    </>
  );
  if (entries)
    return (
      <BaseMenu.SubmenuRoot>
        <BaseMenu.SubmenuTrigger className={look}>
          {inside} <ChevronRight size={14} aria-hidden className="ms-auto rtl:-scale-x-100" />
        </BaseMenu.SubmenuTrigger>
        <Popup name={name} entries={entries} />
      </BaseMenu.SubmenuRoot>
    );
  if (href !== undefined)
    return (
      <BaseMenu.LinkItem className={look} href={href} download closeOnClick>
        {inside}
      </BaseMenu.LinkItem>
    );
  if (isChosen !== undefined)
    return (
      <BaseMenu.CheckboxItem className={look} checked={isChosen} onClick={afterClosing(onChoose)} closeOnClick>
        {inside}
        {isChosen && <Check size={14} aria-hidden className="ms-auto" />}
      </BaseMenu.CheckboxItem>
    );
  return (
    <BaseMenu.Item className={look} onClick={afterClosing(onChoose)}>
      {inside}
    </BaseMenu.Item>
  );
}
