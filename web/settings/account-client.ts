import { createAccountClient } from "../../src/client/account.ts";
import { server } from "../page/server.ts";

/** What everybody asks of the server about themselves. */
export const accountClient = createAccountClient(server);
