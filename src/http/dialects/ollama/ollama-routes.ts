import type { EndpointRoute } from "../../server/endpoint.ts";
import { ollamaChat, ollamaGenerate } from "./chat.ts";
import { ollamaEmbed, ollamaEmbeddings } from "./embed.ts";
import { ollamaPs, ollamaShow, ollamaTags, ollamaVersion } from "./models.ts";
import { ollamaBlob, ollamaCopy, ollamaCreate, ollamaDelete, ollamaPull, ollamaPush } from "./not-ours.ts";

export const ollamaRoutes: readonly EndpointRoute[] = [
  ["POST", "/api/chat", ollamaChat],
  ["POST", "/api/generate", ollamaGenerate],
  ["GET", "/api/tags", ollamaTags],
  ["GET", "/api/ps", ollamaPs],
  ["POST", "/api/show", ollamaShow],
  ["GET", "/api/version", ollamaVersion],
  ["POST", "/api/embed", ollamaEmbed],
  ["POST", "/api/embeddings", ollamaEmbeddings],
  ["POST", "/api/pull", ollamaPull],
  ["POST", "/api/push", ollamaPush],
  ["POST", "/api/create", ollamaCreate],
  ["POST", "/api/copy", ollamaCopy],
  ["DELETE", "/api/delete", ollamaDelete],
  ["POST", "/api/blobs/:digest", ollamaBlob],
];
