import type { FastifyRequest } from "fastify";
import type { TaigaToken } from "../../../protocol/threads/taiga.ts";
import type { Caller } from "../../../protocol/base/callers.ts";
import { AccessDenied, InvalidInput, NotFound, Unavailable } from "../../../protocol/base/errors.ts";
import { taigaSystem, type TaigaAccess } from "../../../tools/taiga/access.ts";
import { TaigaFailure } from "../../../tools/taiga/failure.ts";
import type { TaigaProject } from "../../../tools/taiga/project.ts";
import type { EndpointCall } from "../../server/endpoint.ts";

export type ProjectCaller = {
  /** The caller, as it works in the project. */
  readonly caller: Caller;
  readonly project: TaigaProject;
  /** Secrets that the run needs to sign in. */
  readonly secrets?: Readonly<Record<string, string>>;
};

const enterMs = 10_000;

/** Signs in to the project with the token of the request's headers, else as the operator, which administrators may. */
export async function enterProject(
  { services, caller, request }: EndpointCall,
  project: string,
): Promise<ProjectCaller> {
  const token = tokenOf(request);
  const access = taigaOf(services.taiga);
  if (!token && caller.role !== "admin") throw noToken();
  try {
    const entered = await access.enter(token, project, AbortSignal.timeout(enterMs));
    return {
      caller: { ...caller, elsewhere: { ...caller.elsewhere, [taigaSystem]: entered.standing } },
      project: entered.project,
      ...(entered.secret === undefined ? {} : { secrets: { [taigaSystem]: entered.secret } }),
    };
  } catch (error) {
    throw refusalOf(error, token !== undefined);
  }
}

function taigaOf(access: TaigaAccess | undefined): TaigaAccess {
  return access ?? notConfigured();
}

export function notConfigured(): never {
  throw new Unavailable("This server works with no Taiga; its operator sets taiga.url.", {
    code: "taiga_not_configured",
  });
}

export function tokenOf({ headers }: Pick<FastifyRequest, "headers">): TaigaToken | undefined {
  const [token, refresh] = [headers["x-taiga-token"], headers["x-taiga-refresh"]];
  if (token === undefined) return undefined;
  if (typeof token !== "string" || !/^[\x21-\x7e]{1,4000}$|^(Bearer|Application) [\x21-\x7e]{1,4000}$/.test(token))
    throw new InvalidInput("X-Taiga-Token must be a token, or `Application` and one.", { param: "X-Taiga-Token" });
  return { token, ...(typeof refresh === "string" && refresh !== "" ? { refresh } : {}) };
}

export function noToken(): AccessDenied {
  return new AccessDenied(401, "Send your Taiga token in the header X-Taiga-Token.", { code: "taiga_token_missing" });
}

export function refusalOf(error: unknown, hasToken: boolean): unknown {
  if (error instanceof DOMException && error.name === "TimeoutError")
    return new Unavailable("Taiga did not answer in time.", { code: "taiga_unavailable", cause: error });
  if (!(error instanceof TaigaFailure)) return error;
  const { status, message } = error;
  if (status === 401)
    return hasToken ? new AccessDenied(401, message, { code: "taiga_login_refused", cause: error }) : noToken();
  if (status === 403) return new AccessDenied(403, message, { code: "taiga_forbidden", cause: error });
  if (status === 404) return new NotFound(message, { code: "project_not_found", param: "project_ref", cause: error });
  return new Unavailable(message, { code: "taiga_unavailable", cause: error });
}
