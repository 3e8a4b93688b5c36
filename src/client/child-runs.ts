import type { RunDetailsView } from "../protocol/run-trace.ts";
import { askJson, type Server } from "./request.ts";

/** The run that a call of another run stands for, if it has begun; `place` is the call's `step.index`. */
export async function childRunOf(
  server: Server,
  { run, place, signal }: { readonly run: string; readonly place: string; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const path = `/api/runs/${run}/details?limit=1`;
  const { runs } = await askJson<RunDetailsView>(server, path, { signal });
  return runs.find(({ parentRun, parentCall }) => parentRun === run && parentCall === place)?.id;
}
