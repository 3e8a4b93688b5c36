import { createListClient } from "../../src/client/lists.ts";
import { server } from "../page/server.ts";

/** How one keeps conversations and rooms: lists, folders, pins, read marks. */
export const lists = createListClient(server);
