import { focusManager, QueryClient } from "@tanstack/react-query";

/** What the page has read of the server. Emptied when somebody else looks at it: a login loads the page anew. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine answers without a network.
      networkMode: "always",
      // A request that fails tells so at once, with the way to ask again beside it.
      retry: false,
      // Lists change by events; what has none is read again when it is shown after this long.
      staleTime: 30_000,
    },
    mutations: { retry: false },
  },
});

// Who comes back from another window has seen this one all the time: no tab was hidden.
focusManager.setEventListener((look) => {
  for (const name of ["focus", "visibilitychange"]) addEventListener(name, () => look());
  return () => {};
});
