import { TextField } from "./fields.tsx";

/** What keys are often made for. */
const usual = ["agents:*", "agents:* tools:*", "agents:* tools:* threads:*", "threads:read threads:list", "*"];

/** What a key may, as words with spaces between. */
export function ScopesField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <TextField label={label} name="scopes" value={value} onChange={onChange} choices={usual} hint="agents:*" isNeeded />
  );
}

export function scopesIn(text: string): readonly string[] {
  return text.split(/[\s,]+/u).filter((scope) => scope !== "");
}
