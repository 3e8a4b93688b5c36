// First: it says in which order the layers of all styles count.
import "./theme.css";
import "./fonts.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";
import "../browser/theme.ts";
import { App } from "./app.tsx";
import { followOpenLink, saveLinksWithKey } from "../page/owner-key.ts";
import { queries } from "../page/queries.ts";
import { base, server } from "../page/server.ts";

const SharedPage = lazy(async () => ({ default: (await import("../shared/shared-page.tsx")).SharedPage }));

/** Whoever follows a link to a conversation needs no account, and sees nothing but it. */
const token = /^shared\/([^/]+)$/.exec(location.pathname.slice(base.length))?.[1];
const shared = token !== undefined && (
  <Suspense>
    <SharedPage token={token} />
  </Suspense>
);

const place = document.getElementById("page");
// A code works once: nothing is asked before it has.
await followOpenLink(server);
saveLinksWithKey(server);
if (place) createRoot(place).render(<QueryClientProvider client={queries}>{shared || <App />}</QueryClientProvider>);

// Where browsers let one: over TLS, and on this machine.
navigator.serviceWorker?.register(`${base}sw.js`).catch(() => undefined);
