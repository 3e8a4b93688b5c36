import { proveProgram } from "./prove-program.ts";

proveProgram("claude");
