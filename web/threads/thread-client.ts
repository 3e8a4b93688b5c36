import { createThreadClient } from "../../src/client/threads.ts";
import { server } from "../server.ts";

export const threadClient = createThreadClient(server);
