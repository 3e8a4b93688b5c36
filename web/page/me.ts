import { useQuery } from "@tanstack/react-query";
import type { MeView } from "../../src/protocol/people/accounts.ts";
import { readMe } from "../../src/client/overview.ts";
import { showTo } from "./person.ts";
import { reasonOf, server } from "./server.ts";

/** Who looks at the page; undefined until it is known. Asked again by what is shown next, where it failed. */
export function useMe(): MeView | undefined {
  return useQuery({ queryKey: ["me"], queryFn: ask, staleTime: Infinity, gcTime: Infinity }).data;
}

async function ask({ signal }: { readonly signal: AbortSignal }): Promise<MeView> {
  try {
    const me = await readMe(server, signal);
    showTo(me.id);
    return me;
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}
