import type { TaigaToken } from "../../protocol/threads/taiga.ts";
import type { Caller, ExternalProject } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { RightsSource } from "../../protocol/agents/tools.ts";
import type { TaigaPageRequest, TaigaApi, TaigaRequest } from "./client.ts";
import { TaigaFailure } from "./failure.ts";
import { readProject, type TaigaProject } from "./project.ts";
import { createSession, type TaigaLogin, type TaigaSession } from "./session.ts";

/** The name of Taiga as a system that gives rights, and of a token kept with a run. */
export const taigaSystem = "taiga";

export type AccessOptions = {
  readonly client: TaigaApi;
  /** The operator's own login; for administrators of this server who bring none. */
  readonly login?: TaigaLogin | undefined;
  /** The project that is worked on where a request names none; with the operator's login only. */
  readonly project?: string | undefined;
  /** What callers handed over for the time of a run. */
  readonly secrets: RunSecrets;
  /** After this long `my_permissions` are read anew. */
  readonly freshMs?: number;
};
export type RunSecrets = {
  read(runId: string): Promise<string | undefined>;
  replace(runId: string, text: string): Promise<void>;
};

/** A project as somebody works in it. */
export type ProjectSession = {
  readonly project: TaigaProject;
  /** After a 403 the rights are read anew. */
  ask(request: TaigaRequest): Promise<unknown>;
  pages(list: TaigaPageRequest, take: (rows: readonly unknown[]) => boolean): Promise<boolean>;
};

export type TaigaAccess = RightsSource & {
  /** For a request with a token of its own. `secret` is what its run must keep. Throws TaigaFailure. */
  enter(token: TaigaToken | undefined, place: string, signal: AbortSignal): Promise<ProjectAccess>;
  /** Throws TaigaFailure where the caller works on no project. */
  open(caller: Caller, signal: AbortSignal): Promise<ProjectSession>;
  /** Why nothing may be done there. */
  problem(caller: Caller): string | undefined;
};
export type ProjectAccess = {
  readonly standing: ExternalProject;
  readonly project: TaigaProject;
  readonly secret?: string;
};

type CachedSession = { session: TaigaSession; token: TaigaToken; run: string | undefined };
type CachedProject = { project?: TaigaProject; problem?: string; readAt: number; reading?: Promise<void> | undefined };

const maxKept = 1000;
const readMs = 8000;

export function createTaigaAccess(options: AccessOptions): TaigaAccess {
  const { client, login, secrets, freshMs = 30_000 } = options;
  const operator = login && createSession({ login, post: client.post });
  const visits = new Map<string, CachedSession>();
  const known = new Map<string, CachedProject>();

  function standingOf({ elsewhere, role }: Caller): ExternalProject | undefined {
    const standing =
      elsewhere?.[taigaSystem] ?? (options.project === undefined ? undefined : { place: options.project });
    // The operator's login is nobody else's.
    return standing?.as === undefined && !(operator && role === "admin") ? undefined : standing;
  }

  function visit(as: string, token: TaigaToken, run?: string): CachedSession {
    const made: CachedSession = {
      token,
      run,
      session: createSession({
        login: token,
        post: client.post,
        async onRenewed(renewed) {
          made.token = renewed;
          if (made.run !== undefined) await secrets.replace(made.run, JSON.stringify(renewed));
        },
      }),
    };
    return keep(visits, as, made);
  }

  async function sessionOf({ run }: Caller, { as }: ExternalProject): Promise<TaigaSession> {
    if (as === undefined) {
      if (operator) return operator;
      throw new TaigaFailure(401, "No Taiga login is configured.");
    }
    const here = visits.get(as);
    if (here) {
      here.run ??= run;
      return here.session;
    }
    const text = run === undefined ? undefined : await secrets.read(run);
    if (text === undefined) throw new TaigaFailure(401, "The Taiga token of this run is gone.");
    return visit(as, JSON.parse(text) as TaigaToken, run).session;
  }

  function entryOf(standing: ExternalProject): CachedProject {
    const key = JSON.stringify([standing.as, standing.place]);
    return keep(known, key, known.get(key) ?? { readAt: -Infinity });
  }

  async function read(caller: Caller, standing: ExternalProject, entry: CachedProject): Promise<void> {
    try {
      const session = await sessionOf(caller, standing);
      entry.project = await readProject(client, session, {
        place: standing.place,
        signal: AbortSignal.timeout(readMs),
      });
      delete entry.problem;
    } catch (error) {
      const { status, message } = asFailure(error);
      entry.problem = message;
      // What was known a moment ago holds until Taiga says otherwise.
      if (status !== 0 && status < 500 && status !== 429) delete entry.project;
    }
    entry.readAt = performance.now();
  }

  async function ready(caller: Caller, signal: AbortSignal): Promise<void> {
    const standing = standingOf(caller);
    if (!standing) return;
    const entry = entryOf(standing);
    if (performance.now() - entry.readAt < freshMs) return;
    entry.reading ??= read(caller, standing, entry).finally(() => {
      entry.reading = undefined;
    });
    await orAborted(entry.reading, signal);
  }

  return {
    name: taigaSystem,
    ready,
    permissions(caller) {
      const standing = standingOf(caller);
      return (standing && entryOf(standing).project?.permissions) ?? [];
    },
    problem(caller) {
      const standing = standingOf(caller);
      if (!standing) return "You work on no Taiga project here.";
      const { project, problem } = entryOf(standing);
      return project ? undefined : problem;
    },
    async enter(token, place, signal) {
      const as = token && newId();
      const session = token && as !== undefined ? visit(as, token).session : operator;
      if (!session) throw new TaigaFailure(401, "No Taiga login is configured.");
      const project = await readProject(client, session, { place, signal });
      const standing = { place, ...(as === undefined ? {} : { as }) };
      Object.assign(entryOf(standing), { project, readAt: performance.now() });
      return { standing, project, ...(as === undefined ? {} : { secret: JSON.stringify(visits.get(as)!.token) }) };
    },
    async open(caller, signal) {
      const standing = standingOf(caller);
      if (!standing) throw new TaigaFailure(403, "You work on no Taiga project here.");
      await ready(caller, signal);
      signal.throwIfAborted();
      const entry = entryOf(standing);
      if (!entry.project) throw new TaigaFailure(403, entry.problem ?? "The Taiga project could not be read.");
      const session = await sessionOf(caller, standing);
      const watched = <Value>(work: Promise<Value>): Promise<Value> =>
        onForbidden(work, async () => {
          entry.readAt = -Infinity;
          await ready(caller, signal);
        });
      return {
        project: entry.project,
        ask: (request) => watched(client.request(session, request)),
        pages: (list, take) => watched(client.pages(session, list, take)),
      };
    },
  };
}

/** Runs `react` after a 403, and rethrows it. */
async function onForbidden<Value>(work: Promise<Value>, react: () => Promise<void>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TaigaFailure && error.status === 403) await react();
    throw error;
  }
}

/** The newest stay. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxKept) map.delete(map.keys().next().value!);
  return value;
}

function asFailure(error: unknown): TaigaFailure {
  return error instanceof TaigaFailure ? error : new TaigaFailure(0, "Taiga can't be asked.", { cause: error });
}

/** Resolves when either has come. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([work, promise]);
  signal.removeEventListener("abort", stop);
}
