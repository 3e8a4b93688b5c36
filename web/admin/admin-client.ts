import { createBudgetClient } from "../../src/client/budgets.ts";
import { createDefinitionClient } from "../../src/client/definitions.ts";
import { createGroupClient } from "../../src/client/groups.ts";
import { createOverviewClient } from "../../src/client/overview.ts";
import { createRetentionClient } from "../../src/client/retention.ts";
import { createUserClient } from "../../src/client/users.ts";
import { server } from "../page/server.ts";

/** What admins ask of the server; loaded with their view, not with the page. */
export const overview = createOverviewClient(server);
export const definitions = createDefinitionClient(server);
export const users = createUserClient(server);
export const groups = createGroupClient(server);
export const budgets = createBudgetClient(server);
export const retention = createRetentionClient(server);
