import { createAdminRunClient } from "../../src/client/admin-runs.ts";
import { createRunInsideClient } from "../../src/client/run-details.ts";
import { server } from "../page/server.ts";

/** What this view asks of the server; loaded with it, not with the page. */
export const runsInside = createRunInsideClient(server);
export const adminRuns = createAdminRunClient(server);
