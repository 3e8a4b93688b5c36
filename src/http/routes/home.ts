import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { placeOf } from "../origins.ts";

export const home = endpoint({
  tag: "server",
  summary: "To the page that describes this API",
  open: () => true,
  answers: { 302: z.null() },
  handle: ({ request, reply }) => reply.redirect(`${placeOf(request).basePath ?? ""}/docs`),
});
