import type { TaigaToken, TaigaSprints, TaigaRun, TaigaProjects, TaigaView } from "../protocol/threads/taiga.ts";
import { type ClientRequest, askJson, queryOf, type ServerAccess } from "./request.ts";

export type Proposal = { readonly project: string; readonly sprint: string; readonly prompt: string };

/** What the agent makes of minutes in a Taiga project. Without a login an admin works with the operator's. */
export type TaigaClient = {
  describe(signal?: AbortSignal): Promise<TaigaView>;
  signIn(login: { readonly username: string; readonly password: string }): Promise<TaigaToken>;
  projects(
    login: TaigaToken | undefined,
    page?: { readonly search?: string },
    signal?: AbortSignal,
  ): Promise<TaigaProjects>;
  /** Newest first. */
  sprints(
    login: TaigaToken | undefined,
    project: string,
    page?: { readonly search?: string },
    signal?: AbortSignal,
  ): Promise<TaigaSprints>;
  /** Begins a run that only plans, until a person allows it; resolves to its id. At a limit it waits. */
  propose(login: TaigaToken | undefined, proposal: Proposal, idempotencyKey: string): Promise<string>;
  /** Newest first. */
  runs(signal?: AbortSignal): Promise<{ readonly data: readonly TaigaRun[] }>;
};

export function createTaigaClient(server: ServerAccess): TaigaClient {
  const send = <Answer>(path: string, asking: ClientRequest) => askJson<Answer>(server, path, asking);
  return {
    describe: (signal) => send("/api/taiga", { signal }),
    signIn: (body) => send("/api/taiga/sign-in", { method: "POST", body }),
    projects: (login, page = {}, signal) =>
      send(`/api/taiga/projects${queryOf(page)}`, { headers: headersOf(login), signal }),
    sprints: (login, project, page = {}, signal) =>
      send(`/api/taiga/sprints${queryOf({ project, ...page })}`, { headers: headersOf(login), signal }),
    async propose(login, { project, sprint, prompt }, key) {
      const body = {
        project_ref: project,
        sprint_ref: sprint,
        prompt,
        dry_run: true,
        background: true,
        limits: { onLimit: "pause" },
      };
      const headers = {
        ...headersOf(login),
        ...(login?.refresh !== undefined && { "x-taiga-refresh": login.refresh }),
        "idempotency-key": key,
      };
      const { run_id: id } = await send<{ run_id: string }>("/agent/run", { method: "POST", body, headers });
      return id;
    },
    runs: (signal) => send("/api/taiga/runs", { signal }),
  };
}

function headersOf(login: TaigaToken | undefined): Readonly<Record<string, string>> {
  return login === undefined ? {} : { "x-taiga-token": login.token };
}
