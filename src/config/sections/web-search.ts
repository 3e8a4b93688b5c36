import { z } from "zod";

const address = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/^https?:\/\/[^/]*@|[?#]/.test(url), "must not contain a user name, a password or a query");

const perSecond = z.number().positive().max(1000);

/** Who searches the web for agents, and how pages of it are read. */
export const websearchSchema = z.strictObject({
  /** In which order those that are set up are asked: the next one where one fails. */
  providers: z
    .array(z.enum(["tavily", "searxng", "brave"]))
    .min(1)
    .default(["tavily", "searxng", "brave"]),
  /** Pages that one search looks at, where a call does not say. */
  maxResults: z.int().min(1).max(20).default(5),
  /** Whether a model answers from what was found; else whoever asks reads the results themselves. */
  answer: z.boolean().default(true),
  /** For how long the same search, or the same page, is not asked for again; 0: not at all. */
  cacheMinutes: z.number().min(0).max(1440).default(15),
  tavily: z
    .strictObject({
      apiKey: z.string().min(1).optional(),
      depth: z.enum(["basic", "advanced", "fast", "ultra-fast"]).default("basic"),
      baseUrl: address.default("https://api.tavily.com"),
      requestsPerSecond: perSecond.default(5),
    })
    .prefault({}),
  searxng: z
    .strictObject({
      /** Of its start page. */
      url: address.optional(),
      /** Absent: those that it has chosen itself. */
      engines: z.array(z.string().min(1)).optional(),
      language: z.string().min(2).optional(),
      requestsPerSecond: perSecond.default(2),
    })
    .prefault({}),
  brave: z
    .strictObject({
      apiKey: z.string().min(1).optional(),
      country: z.string().length(2).optional(),
      language: z.string().min(2).optional(),
      baseUrl: address.default("https://api.search.brave.com"),
      requestsPerSecond: perSecond.default(1),
    })
    .prefault({}),
  /** How `fetch_page` reads. */
  pages: z
    .strictObject({
      /** Whether what a site's robots.txt does not want read is left alone. */
      robots: z.boolean().default(true),
      /** Between two requests to one host. */
      delaySeconds: z.number().min(0).max(60).default(1),
      timeoutSeconds: z.number().positive().max(100).default(30),
      maxMb: z.number().positive().max(100).default(5),
      /** Hosts, addresses and ranges that may be read though they are not on the public internet. */
      allow: z.array(z.string().regex(/^[\w.:[\]/-]+$/, "must be a host, an address or a range")).default([]),
    })
    .prefault({}),
});
