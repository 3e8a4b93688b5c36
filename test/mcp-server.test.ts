import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Caller } from "../src/protocol/callers.ts";
import type { Script } from "../src/models/scripted.ts";
import { createApiKey, createKeyFinder } from "../src/store/api-keys.ts";
import { createUser } from "../src/store/users.ts";
import { defineTool } from "../src/tools/define-tool.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";
import { postgresUrl } from "./postgres.ts";

const eras = ["2025-11-25", "2026-07-28"] as const;
type Era = (typeof eras)[number];
