import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

/** Loaded by a server before it starts: it writes a line about each request for an answer. */
subscribe("http.server.request.start", (message) => {
  const { request } = message as { readonly request: IncomingMessage };
  if (request.method === "POST")
    console.log(`asked ${JSON.stringify({ path: request.url, headers: request.headers })}`);
});
