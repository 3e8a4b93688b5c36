/**
 * Whoever can't reach the server is told so, instead of by the browser; and those of the page's own parts that were used are at hand
 * at once. The page itself always comes from the server, so that none is stale, and of what the server answers nothing is kept.
 */
// The build puts in what is seen while the server can't be reached.
const parts = [];
const version = "";

const ours = `colloquy ${registration.scope} `;
const kept = ours + version;

/**
 * Firefox never closes the connection of a request that is aborted, if it has passed by a worker that hears requests: of streams
 * that were left, six are enough that no tab loads anything more.
 */
const hearsRequests = !navigator.userAgent.includes("Firefox/");

addEventListener("install", (event) => event.waitUntil(keepParts()));
addEventListener("activate", (event) => event.waitUntil(forgetOlder()));
if (hearsRequests) addEventListener("fetch", hear);

function hear(event) {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match("offline.html")));
  else if (request.url.startsWith(`${registration.scope}assets/`)) event.respondWith(part(event));
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(leadTo(registration.scope + event.notification.data));
});

/** In the page that is open, else in a new one. */
async function leadTo(url) {
  const [open] = await clients.matchAll({ type: "window" });
  if (!open) return clients.openWindow(url);
  await open.focus();
  return open.navigate(url);
}

async function keepParts() {
  if (hearsRequests) {
    const cache = await caches.open(kept);
    await cache.addAll(["offline.html", ...parts]);
  }
  await skipWaiting();
}

async function forgetOlder() {
  for (const name of await caches.keys()) if (name.startsWith(ours) && name !== kept) await caches.delete(name);
  await clients.claim();
}

async function part(event) {
  const { request } = event;
  const known = await caches.match(request, { cacheName: kept });
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) event.waitUntil(keepPart(request, answer.clone()));
  return answer;
}

/** What was used is at hand the next time; nothing is fetched for that alone. */
async function keepPart(request, answer) {
  const cache = await caches.open(kept);
  // Without room for it, it is fetched again.
  await cache.put(request, answer).catch(() => undefined);
}
