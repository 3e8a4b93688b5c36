import { createHub } from "./hub.ts";

const hub = createHub();

/** One for all tabs of this origin; each opens a port of its own. */
addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port) hub.open(port);
});
