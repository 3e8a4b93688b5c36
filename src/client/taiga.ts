import type { RunStatus } from "../protocol/runs.ts";
import { type Asking, askJson, queryOf, type Server } from "./request.ts";

/** As it is sent to this server with a request; `token` may be `Application …`. */
export type TaigaLogin = { readonly token: string; readonly refresh?: string };
export type TaigaProject = { readonly id: number; readonly slug: string; readonly name: string };
export type TaigaSprint = {
  readonly id: number;
  readonly name: string;
  readonly closed: boolean;
  readonly start: string | null;
  readonly finish: string | null;
};
/** `more`: there are others; more words of their name find them. */
type Listed<Entry> = { readonly data: readonly Entry[]; readonly more: boolean };
export type TaigaSprints = Listed<TaigaSprint> & {
  readonly project: TaigaProject;
  /** Of the rights to add stories and tasks, those that one has not. */
  readonly missing: readonly string[];
};
export type TaigaRun = {
  readonly id: string;
  readonly title: string;
  readonly status: RunStatus;
  readonly createdAt: string;
};
export type Proposal = { readonly project: string; readonly sprint: string; readonly prompt: string };

/** What the agent makes of minutes in a Taiga project. Without a login an admin works with the operator's. */
export type TaigaClient = {
  describe(signal?: AbortSignal): Promise<{ readonly configured: boolean; readonly needsToken: boolean }>;
  signIn(login: { readonly username: string; readonly password: string }): Promise<TaigaLogin>;
  projects(
    login: TaigaLogin | undefined,
    page?: { readonly search?: string },
    signal?: AbortSignal,
  ): Promise<Listed<TaigaProject>>;
  /** Newest first. */
  sprints(
    login: TaigaLogin | undefined,
    project: string,
    page?: { readonly search?: string },
    signal?: AbortSignal,
  ): Promise<TaigaSprints>;
  /** Begins a run that only plans, until a person allows it; resolves to its id. At a limit it waits. */
  propose(login: TaigaLogin | undefined, proposal: Proposal, idempotencyKey: string): Promise<string>;
  /** Newest first. */
  runs(signal?: AbortSignal): Promise<{ readonly data: readonly TaigaRun[] }>;
};

export function createTaigaClient(server: Server): TaigaClient {
  const send = <Answer>(path: string, asking: Asking) => askJson<Answer>(server, path, asking);
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

function headersOf(login: TaigaLogin | undefined): Readonly<Record<string, string>> {
  return login === undefined ? {} : { "x-taiga-token": login.token };
}
