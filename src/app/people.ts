import { join, resolve, sep } from "node:path";
import type { Config } from "../config/schema.ts";
import { archivePerson, type PersonSources } from "../people/archive.ts";
import type { Services } from "../http/server/services.ts";
import type { Uploads } from "../knowledge/uploads/uploads.ts";
import { createErasures } from "../people/erasures.ts";
import { createRetention, retentionFindings } from "../people/retention.ts";
import { NotFound } from "../protocol/base/errors.ts";
import { retentionNames } from "../protocol/people/retention.ts";
import type { Finding } from "../protocol/people/overview.ts";
import type { Log } from "../protocol/base/log.ts";
import type { RunsService } from "../run/services.ts";
import type { ConfiguredDays } from "../store/privacy/retention.ts";
import { createShares } from "../store/shares.ts";
import type { OpenAccess } from "./access.ts";
import type { OpenKnowledge } from "./knowledge.ts";
import type { OpenMcp } from "./mcp.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";
import type { Store } from "./store.ts";
import type { OpenUploads } from "./uploads.ts";
import type { OpenWorkspaces } from "./workspaces.ts";

export type OpenPeople = {
  readonly services: Pick<Services, "retention" | "persons" | "erasures" | "shares">;
  readonly findings: () => Promise<readonly Finding[]>;
  readonly close: () => Promise<void>;
};

type PeopleDeps = {
  readonly store: Pick<Store, "database" | "fileProof">;
  readonly runs: RunsService;
  readonly uploads: Pick<OpenUploads, "uploads">;
  readonly workspaces: Pick<OpenWorkspaces, "withoutUploads">;
  readonly knowledge: Pick<OpenKnowledge, "knowledge">;
  readonly access: Pick<OpenAccess, "forget">;
  readonly mcp: Pick<OpenMcp, "signOut">;
  readonly log: Log;
  /** Whether old things are removed and erasures gone on with in this process. */
  readonly runsJobs: boolean;
};

/** How long things are kept, what a person may share and take with them, and how they are erased. */
export function openPeople(config: Config, deps: PeopleDeps): OpenPeople {
  const { store, runs, log, runsJobs } = deps;
  const database = store.database.listing;
  const { uploads } = deps.uploads;
  // What was uploaded is among a person's data by itself.
  const workspaces = deps.workspaces.withoutUploads;
  const configured = configuredRetention(config);
  const files = { database, uploads, workspaces, log, withFiles: store.fileProof === "shared" };
  const retention = createRetention({ ...files, old: runs.old, configured });
  const erasures = createErasures({
    ...files,
    signOut: deps.mcp.signOut,
    forget: deps.access.forget,
    runs: runs.erasure,
    schedules: runs.schedules,
    collections: deps.knowledge.knowledge.collections,
  });
  const opening = createCapabilityStack(log);
  if (runsJobs) {
    opening.add({ close: retention.begin() });
    opening.add({ close: erasures.begin() });
  }
  const sources = { query: database.query, threads: runs.threads, workspaces, placeOf: placesIn(config, uploads) };
  const persons = { archive: (userId: string) => archivePerson(sources, userId) };
  return {
    services: { retention, erasures, persons, shares: createShares(store.database.query) },
    findings: () => retentionFindings(database.query, configured),
    close: opening.done(),
  };
}

/** What the configuration says of how long things are kept. */
export function configuredRetention({ retention, source }: Pick<Config, "retention" | "source">): ConfiguredDays {
  const said = retentionNames.flatMap((kind) => {
    const days = retention[`${kind}Days`];
    return days === undefined ? [] : [[kind, { days, source: source.get(`retention.${kind}Days`) ?? "" }] as const];
  });
  return Object.fromEntries(said);
}

function placesIn({ data }: Config, uploads: Uploads): PersonSources["placeOf"] {
  const documents = resolve(join(data, "rag_documents"));
  return (kind, file) => {
    if (kind === "uploads") return uploads.placeOf({ file });
    const place = resolve(documents, file);
    // What an import brought may name anything.
    if (!place.startsWith(documents + sep)) throw new NotFound("The file is not here.", { code: "file_not_found" });
    return place;
  };
}
