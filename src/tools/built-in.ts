import type { Tool } from "../protocol/tools.ts";
import { calculate } from "./calculate.ts";
import { now } from "./now.ts";
import { taskTools } from "./tasks.ts";

/** The tools every server has. */
export const builtInTools: readonly Tool[] = [...taskTools, calculate, now];
