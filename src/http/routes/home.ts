import { z } from "zod";
import { endpoint } from "../endpoint.ts";

export const home = endpoint({
  tag: "server",
  summary: "To the page that describes this API",
  open: () => true,
  answers: { 302: z.null() },
  handle: ({ reply }) => reply.redirect("/docs"),
});
