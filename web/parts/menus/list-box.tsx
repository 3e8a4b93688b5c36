import { Combobox } from "@base-ui/react/combobox";
import { ChevronDown } from "lucide-react";
import { type ReactNode, useContext } from "react";
import { Layer } from "./layer.ts";
import "./popover.css";

export type ListOption = {
  readonly value: string;
  readonly name: string;
  /** Below the name: what it is, how it does. */
  readonly about?: ReactNode;
  /** What a search looks at beside the name. */
  readonly words?: string;
  readonly isDisabled?: boolean;
};

type ListBoxProps = {
  readonly name: string;
  readonly value: string;
  readonly options: readonly ListOption[];
  readonly onChange: (value: string) => void;
  /** Label of the search. */
  readonly search: string;
  readonly nothing: string;
};

/** One of several, each with words about it: chosen by arrows and Enter, found by typing. */
export function ListBox({ name, value, options, onChange, search, nothing }: ListBoxProps) {
  const layer = useContext(Layer);
  const chosen = options.find((option) => option.value === value);
  return (
    <div className="picker-frame">
      <Combobox.Root
        items={options}
        value={chosen ?? null}
        onValueChange={(option) => option && onChange(option.value)}
        itemToStringLabel={(option) => option.name}
        isItemEqualToValue={(one, other) => one.value === other.value}
        filter={({ name: text, words = "" }, sought) =>
          `${text} ${words}`.toLowerCase().includes(sought.trim().toLowerCase())
        }
        autoHighlight
      >
        <Combobox.Trigger className="picker-button" aria-label={`${name}: ${chosen?.name ?? value}`}>
          <span dir="auto" className="truncate">
            {chosen?.name ?? value}
          </span>
          <ChevronDown size={14} aria-hidden className="flex-none" />
        </Combobox.Trigger>
        <Combobox.Portal container={layer}>
          <Combobox.Positioner className="popover-place" side="top" align="start" sideOffset={6} collisionPadding={8}>
            <Combobox.Popup className="popover picker-list" aria-label={name}>
              <Combobox.Input className="field mb-1 w-full" aria-label={search} placeholder={search} />
              <Combobox.Empty className="px-2 py-1 text-muted empty:hidden">{nothing}</Combobox.Empty>
              <Combobox.List className="picker-options" aria-label={name}>
                {(option: ListOption) => (
                  <Combobox.Item
                    key={option.value}
                    value={option}
                    disabled={option.isDisabled ?? false}
                    className="popover-item picker-option"
                  >
                    <span className="font-semibold">{option.name}</span>
                    {option.about !== undefined && <span className="text-xs text-muted">{option.about}</span>}
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </div>
  );
}
