import type { EndpointRoute } from "./server/endpoint.ts";
import { changePreferences, followLists, readPreferences } from "./routes/account/preferences.ts";
import { changeThreads } from "./routes/threads/bulk.ts";
import { changeFolder, createFolder, deleteFolder, listFolders } from "./routes/threads/folders.ts";

/** How people keep their conversations and rooms, and how they like to work. */
export const personRoutes: readonly EndpointRoute[] = [
  ["GET", "/api/folders", listFolders],
  ["POST", "/api/folders", createFolder],
  ["PATCH", "/api/folders/:id", changeFolder],
  ["DELETE", "/api/folders/:id", deleteFolder],
  ["POST", "/api/threads/bulk", changeThreads],
  ["GET", "/api/me/preferences", readPreferences],
  ["PATCH", "/api/me/preferences", changePreferences],
  ["GET", "/api/me/events", followLists],
];
