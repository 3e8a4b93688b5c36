import { z } from "zod";
import { preferencesSchema } from "../../../protocol/people/preferences.ts";
import { listChangeSchema } from "../../../protocol/threads/folders.ts";
import { openLists, streamSubject } from "../../requests/followed-subjects.ts";
import { endpoint } from "../../server/endpoint.ts";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";

const { agent, model, favourites, filters } = preferencesSchema.shape;

export const readPreferences = endpoint({
  needs: ["ask", "threads:list"],
  tag: "accounts",
  summary: "See how you like to work: your favourites, saved filters, and which agent and model are your default",
  answers: { 200: preferencesSchema },
  handle: ({ caller, services }) => services.preferences.read(caller.userId),
});

export const changePreferences = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Change your favourites, saved filters, or your default agent or model",
  description: "What is absent stays; null leaves it to the server again.",
  body: z
    .strictObject({
      agent: agent.nullable(),
      model: model.nullable(),
      favourites: favourites.nullable(),
      filters: filters.nullable(),
    })
    .refine((changes) => Object.keys(changes).length > 0, "must change something"),
  answers: { 200: preferencesSchema },
  handle: ({ body, caller, services }) => services.preferences.change(caller.userId, body),
});

export const followLists = endpoint({
  needs: "threads:list",
  tag: "accounts",
  summary: "Hear when your conversations, folders or preferences have changed",
  description:
    "Server-sent events that name what has changed, one of each at the beginning; what there is now is told by its own list. " +
    "Conversations have changed when one was made, renamed, set otherwise, moved, pinned, archived, read or deleted, and when a " +
    "run in one ended.",
  answers: { 200: eventStream("An event whenever something has changed", eventSchema(listChangeSchema)) },
  handle: (call) => streamSubject(call, openLists(call)),
});
