import { askJson, type Server } from "./request.ts";

type TracedRun = { readonly id: string; readonly parentRun: string | null; readonly parentCall: string | null };

/** The run that a call of another run stands for, if it has begun; `place` is the call's `step.index`. */
export async function childRunOf(
  server: Server,
  { run, place, signal }: { readonly run: string; readonly place: string; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const path = `/api/runs/${run}/details?limit=1`;
  const { runs } = await askJson<{ readonly runs: readonly TracedRun[] }>(server, path, { signal });
  return runs.find(({ parentRun, parentCall }) => parentRun === run && parentCall === place)?.id;
}
