import { createAccountClient } from "../../src/client/account.ts";
import { server } from "../server.ts";

/** What everybody asks of the server about themselves. */
export const own = createAccountClient(server);
