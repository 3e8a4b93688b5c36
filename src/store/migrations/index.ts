import { begin } from "./0001-begin.ts";
import type { Migration } from "./migration.ts";

/** Every migration, in order. */
export const migrations: readonly Migration[] = [begin];
