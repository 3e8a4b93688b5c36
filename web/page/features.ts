import { useQuery } from "@tanstack/react-query";
import { createTaigaClient } from "../../src/client/taiga.ts";
import { server } from "./server.ts";

/** What not every server has, so that its view is offered only where it is of use. */
export type Feature = "taiga";

const none: ReadonlySet<Feature> = new Set();

/** Where it can't be asked nothing is offered; its address works all the same. */
export function useFeatures(): ReadonlySet<Feature> {
  return (
    useQuery({ queryKey: ["features"], queryFn: ask, staleTime: Infinity, gcTime: Infinity, retryOnMount: false })
      .data ?? none
  );
}

async function ask(): Promise<ReadonlySet<Feature>> {
  const { configured } = await createTaigaClient(server).describe();
  return new Set(configured ? ["taiga" as const] : []);
}
