/** Providers refuse a dot in a function's name, and people know the tools as `taiga.create_task`. */
const system = "taiga";

/** `taiga.create_task` for `taiga_create_task`; any other name as it is. */
export function shownName(name: string): string {
  return name.startsWith(`${system}_`) ? `${system}.${name.slice(system.length + 1)}` : name;
}

/** And back. */
export function toolName(shown: string): string {
  return shown.startsWith(`${system}.`) ? `${system}_${shown.slice(system.length + 1)}` : shown;
}
