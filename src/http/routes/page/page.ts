import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { NotFound } from "../../../protocol/base/errors.ts";
import { type Endpoint, type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { publicAddressOf } from "../../server/origins.ts";
import type { PageFile } from "../../files/page-files.ts";
import type { ServerSettings, Services } from "../../server/services.ts";

/** Nothing from elsewhere, and no styles but those of files and of the elements that the document itself has. */
const policyOf = (document: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styleHashes(document)].join(" "),
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** What draws diagrams writes styles wherever it draws: it has a document of its own, which loads nothing else. */
const drawingPolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'self'; form-action 'none'; frame-ancestors 'self'";

/** A worker has the policy of its own file, and the one that holds the event streams asks the server. */
const assetPolicy = "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

function styleHashes(document: string): readonly string[] {
  const styles = document.split("<style>").slice(1);
  return styles.map((rest) => {
    const [style = ""] = rest.split("</style>", 1);
    return `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
  });
}

const policies = new WeakMap<PageFile, string>();

function policyFor(file: PageFile): string {
  const policy = policies.get(file) ?? policyOf(file.bytes.toString());
  policies.set(file, policy);
  return policy;
}

/** The page for people. */
export const page = document("index.html", {
  summary: "The page for people",
  description: "The page, for every path. Redirects to /docs if the page has not been built (`npm start` builds it).",
});

/** At the root, where clients of Ollama look whether it runs. */
export const home: Endpoint = {
  ...page,
  answers: {
    ...page.answers,
    200: {
      description: "A page; a line of text for clients of Ollama",
      content: { "text/html": { schema: z.string() }, "text/plain": { schema: z.string() } },
    },
  },
  handle(call) {
    const { reply } = call;
    if (!isForOllama(call)) return page.handle(call);
    return reply.type("text/plain; charset=utf-8").send("Ollama is running");
  },
};

/** Whoever calls itself so, or asks at Ollama's port for anything but a page. */
function isForOllama({ request, services }: Pick<EndpointCall, "request" | "services">): boolean {
  const { accept = "", "user-agent": agent = "" } = request.headers;
  if (/\btext\/html\b/.test(accept)) return false;
  const { ollamaPort } = services.server;
  return /^ollama\b/i.test(agent) || (ollamaPort !== undefined && request.socket.localPort === ollamaPort);
}

/** Shown by the page's service worker while the server can't be reached. */
export const offlinePage = document("offline.html", { summary: "What the page shows without the server" });

/** In a frame of the page. */
export const drawingPage = document("drawing.html", {
  summary: "What draws the page's diagrams",
  policy: drawingPolicy,
});

type DocumentAbout = {
  readonly summary: string;
  readonly description?: string;
  /** Absent: as strict as the page's. */
  readonly policy?: string;
};

function document(name: string, { policy, ...about }: DocumentAbout): Endpoint {
  return endpoint({
    needs: "nothing",
    tag: "server",
    ...about,
    open: () => true,
    takesHead: true,
    standsAlone: true,
    answers: {
      200: { description: "A page", content: { "text/html": { schema: z.string() } } },
      302: z.null(),
      304: z.null(),
    },
    handle({ request, reply, services }) {
      const file = services.page?.get(name);
      return file
        ? sendDocument({ request, reply }, { file, policy, ...services.server })
        : reply.redirect(`${publicAddressOf(request).basePath ?? ""}/docs`);
    },
  });
}

type SentDocument = {
  readonly file: PageFile;
  /** Absent: that of the page. */
  readonly policy?: string | undefined;
} & Pick<ServerSettings, "currency">;

function sendDocument({ request, reply }: PageReply, { file, policy, currency = "USD" }: SentDocument): FastifyReply {
  const base = publicAddressOf(request).basePath ?? "";
  reply.header("content-security-policy", policy ?? policyFor(file)).header("cache-control", "no-cache");
  if (base === "" && currency === "USD") return sendPageFile({ request, reply }, file);
  // Wherever a proxy has put the server, and whatever its prices are in.
  return reply.type(file.type).send(
    file.bytes
      .toString()
      .replace('<base href="/" />', `<base href="${base.replaceAll('"', "%22")}/" />`)
      .replace('<html lang="en">', `<html lang="en" data-currency="${currency}">`),
  );
}

/** For routes nobody has: a person who reads in a browser gets the page, which says so and leads on; undefined for all else. */
export function answerUnknownPage(answering: PageReply, services: Services): FastifyReply | undefined {
  const { method, url, headers } = answering.request;
  const isForPeople =
    method === "GET" && /\btext\/html\b/.test(headers.accept ?? "") && !/^\/(api|v1|assets)\//.test(url);
  const file = isForPeople ? services.page?.get("index.html") : undefined;
  return file && sendDocument({ ...answering, reply: answering.reply.code(404) }, { file, ...services.server });
}

/** Assets of the page; a name changes with its content. */
export const pageAsset = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "A part of the page",
  open: () => true,
  takesHead: true,
  standsAlone: true,
  params: z.object({ path: z.string() }),
  answers: { 200: { description: "The file", content: { "*/*": { schema: z.string() } } }, 304: z.null() },
  handle({ params, request, reply, services }) {
    const file = services.page?.get(`assets/${params.path}`);
    if (!file) throw new NotFound("This part of the page no longer exists. Reload the page.");
    reply.header("cache-control", "public, max-age=31536000, immutable").header("content-security-policy", assetPolicy);
    return sendPageFile({ request, reply }, file);
  },
});

export const pageMark = namedFile("mark.svg", "The page's icon", "image/svg+xml");
export const pageManifest = namedFile(
  "manifest.webmanifest",
  "What the page is when it is installed",
  "application/manifest+json",
);
export const pageWorker = namedFile("sw.js", "The page's service worker", "text/javascript");

/** A file with a name that stays: whether it has changed is asked each time. */
function namedFile(name: string, summary: string, type: string): Endpoint {
  return endpoint({
    needs: "nothing",
    tag: "server",
    summary,
    open: () => true,
    takesHead: true,
    standsAlone: true,
    answers: { 200: { description: "The file", content: { [type]: { schema: z.string() } } }, 304: z.null() },
    handle({ request, reply, services }) {
      const file = services.page?.get(name);
      if (!file) throw new NotFound("Page not found.");
      reply.header("cache-control", "no-cache").header("content-security-policy", policyFor(file));
      return sendPageFile({ request, reply }, file);
    },
  });
}

export const pageIcon = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "An icon of the page, in the size of its name",
  open: () => true,
  takesHead: true,
  standsAlone: true,
  params: z.object({ name: z.string().max(100) }),
  answers: { 200: { description: "An image", content: { "image/png": { schema: z.string() } } }, 304: z.null() },
  handle({ params, request, reply, services }) {
    const file = services.page?.get(`icons/${params.name}`);
    if (!file) throw new NotFound("The page has no such icon.");
    reply.header("cache-control", "no-cache");
    return sendPageFile({ request, reply }, file);
  },
});

type PageReply = { readonly request: FastifyRequest; readonly reply: FastifyReply };

function sendPageFile({ request, reply }: PageReply, { type, tag, bytes, br, gzip }: PageFile): FastifyReply {
  reply.header("etag", tag).header("vary", "accept-encoding");
  if (request.headers["if-none-match"] === tag) return reply.code(304).send();
  reply.type(type);
  const taken = (request.headers["accept-encoding"] ?? "").toString();
  if (br && /\bbr\b/.test(taken)) return reply.header("content-encoding", "br").send(br);
  if (gzip && /\bgzip\b/.test(taken)) return reply.header("content-encoding", "gzip").send(gzip);
  return reply.send(bytes);
}
