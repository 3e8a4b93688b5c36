import {
  createConversation,
  deleteConversation,
  getConversation,
  listConversationItems,
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
  ["GET", "/v1/conversations/:id/items", listConversationItems],
  ["DELETE", "/v1/conversations/:id", deleteConversation],
];
