import { type JsonFields, optionalFields, refuse } from "../../answers/request-values.ts";
import type { ThreadMetadata } from "../../../run/kept-conversations.ts";

const mostPairs = 16;
const longestKey = 64;
const longestValue = 512;

/** Reads `metadata` within the bounds that OpenAI sets; absent is as if it were empty. */
export function metadataIn(fields: JsonFields): ThreadMetadata {
  const metadata = Object.entries(optionalFields(fields, "metadata") ?? {});
  if (metadata.length > mostPairs) refuse("metadata", `may have at most ${mostPairs} pairs, not ${metadata.length}`);
  for (const [key, value] of metadata) {
    const at = `metadata.${key.slice(0, longestKey)}`;
    if (key.length > longestKey) refuse(at, `is a key of more than ${longestKey} characters`);
    if (typeof value !== "string") refuse(at, "must be a string");
    if (value.length > longestValue) refuse(at, `has more than ${longestValue} characters`);
  }
  return Object.fromEntries(metadata) as ThreadMetadata;
}
