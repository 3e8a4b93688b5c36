import {
  addConversationItems,
  createConversation,
  deleteConversation,
  deleteConversationItem,
  getConversation,
  getConversationItem,
  listConversationItems,
  updateConversation,
} from "./dialects/responses/conversations.ts";
import {
  cancelResponse,
  createResponseRoute,
  deleteResponse,
  getResponse,
  listInputItems,
} from "./dialects/responses/responses.ts";
import type { EndpointRoute } from "./server/endpoint.ts";

/** OpenAI's Responses and Conversations. */
export const responseRoutes: readonly EndpointRoute[] = [
  ["POST", "/v1/responses", createResponseRoute],
  ["GET", "/v1/responses/:id", getResponse],
  ["GET", "/v1/responses/:id/input_items", listInputItems],
  ["POST", "/v1/responses/:id/cancel", cancelResponse],
  ["DELETE", "/v1/responses/:id", deleteResponse],
  ["POST", "/v1/conversations", createConversation],
  ["GET", "/v1/conversations/:id", getConversation],
  ["POST", "/v1/conversations/:id", updateConversation],
  ["GET", "/v1/conversations/:id/items", listConversationItems],
  ["POST", "/v1/conversations/:id/items", addConversationItems],
  ["GET", "/v1/conversations/:id/items/:item_id", getConversationItem],
  ["DELETE", "/v1/conversations/:id/items/:item_id", deleteConversationItem],
  ["DELETE", "/v1/conversations/:id", deleteConversation],
];
