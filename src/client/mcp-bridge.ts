import { createInterface } from "node:readline";
import { messageOf } from "../protocol/errors.ts";
import { readSse } from "./sse-lines.ts";
