import { Combobox } from "@base-ui/react/combobox";
import { X } from "lucide-react";
import { useContext, useState } from "react";
import { Field } from "../forms/fields.tsx";
import { Layer } from "./layer.ts";
import "./popover.css";
import "./picks-field.css";

export type Pick = { readonly value: string; readonly about?: string };

type PicksFieldProps = {
  readonly label: string;
  readonly name?: string;
  readonly help?: string | undefined;
  readonly picked: readonly string[];
  /** What there is to pick from; with `isOpenEnded` what is typed can be picked too, as a pattern is. */
  readonly picks: readonly Pick[];
  readonly isOpenEnded?: boolean;
  readonly onChange: (picked: readonly string[]) => void;
  readonly hint?: string | undefined;
  readonly texts: {
    readonly takeOut: (value: string) => string;
    readonly asTyped: (value: string) => string;
    readonly nothing: string;
  };
};

/** Some of many: what is picked stands as chips in the field, the others are found by typing. */
export function PicksField(props: PicksFieldProps) {
  const { label, name, help, picked, picks, isOpenEnded = false, onChange, hint, texts } = props;
  const [typed, setTyped] = useState("");
  const layer = useContext(Layer);
  const pattern = typed.trim();
  const found = picks.filter(({ value, about = "" }) =>
    `${value} ${about}`.toLowerCase().includes(pattern.toLowerCase()),
  );
  // A pattern, or the name of something that is not there yet.
  const isNew = isOpenEnded && pattern !== "" && (pattern.includes("*") || found.length === 0);
  const items = isNew ? [...found, { value: pattern, about: texts.asTyped(pattern) }] : found;
  return (
    <Field label={label} name={name} help={help}>
      {(control) => (
        <Combobox.Root
          multiple
          autoHighlight
          items={items}
          filteredItems={items}
          inputValue={typed}
          onInputValueChange={setTyped}
          value={picked.map((value) => ({ value }))}
          isItemEqualToValue={(one, other) => one.value === other.value}
          itemToStringLabel={({ value }) => value}
          onValueChange={(chosen) => {
            onChange(chosen.map(({ value }) => value));
            setTyped("");
          }}
        >
          <Combobox.Chips className="field picks">
            {picked.map((value) => (
              <Combobox.Chip key={value} className="pick" aria-label={value}>
                <span className="min-w-0 truncate">{value}</span>
                <Combobox.ChipRemove className="pick-out" aria-label={texts.takeOut(value)}>
                  <X size={12} aria-hidden />
                </Combobox.ChipRemove>
              </Combobox.Chip>
            ))}
            <Combobox.Input
              {...control}
              className="picks-input"
              placeholder={picked.length === 0 ? hint : undefined}
              spellCheck={false}
            />
          </Combobox.Chips>
          <Combobox.Portal container={layer}>
            <Combobox.Positioner className="popover-place" align="start" sideOffset={4} collisionPadding={8}>
              <Combobox.Popup className="popover picker-list" aria-label={label}>
                <Combobox.Empty className="px-2 py-1 text-muted empty:hidden">{texts.nothing}</Combobox.Empty>
                <Combobox.List className="picker-options" aria-label={label}>
                  {(item: Pick) => (
                    <Combobox.Item key={item.value} value={item} className="popover-item picker-option">
                      <span className="font-mono text-xs">{item.value}</span>
                      {item.about !== undefined && <span className="text-xs text-muted">{item.about}</span>}
                    </Combobox.Item>
                  )}
                </Combobox.List>
              </Combobox.Popup>
            </Combobox.Positioner>
          </Combobox.Portal>
        </Combobox.Root>
      )}
    </Field>
  );
}
