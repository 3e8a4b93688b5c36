import { createThreadClient } from "../../src/client/threads.ts";
import { server } from "../page/server.ts";

export const threadClient = createThreadClient(server);
