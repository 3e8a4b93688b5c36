import { join, resolve, sep } from "node:path";
import type { Config } from "../config/schema.ts";
import { archivePerson, type Persons, type PersonSources } from "../people/archive.ts";
import type { Knowledge } from "../knowledge/knowledge.ts";
import type { Uploads } from "../knowledge/uploads/uploads.ts";
import { createErasures, type ErasureParts, type Erasures } from "../people/erasures.ts";
import { createRetention, type Retention } from "../people/retention.ts";
import type { Opened } from "./store.ts";
import { NotFound } from "../protocol/base/errors.ts";
import { retentionNames } from "../protocol/people/retention.ts";
import type { Log } from "../protocol/base/log.ts";
import type { RunsService } from "../run/create-runs.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import type { Database } from "../store/driver/database.ts";
import type { ConfiguredDays } from "../store/privacy/retention.ts";
import type { FileProof } from "../store/installation/data-folder.ts";

type Parts = Pick<ErasureParts, "signOut" | "forget"> & {
  readonly database: Database;
  readonly service: RunsService;
  readonly uploads: Uploads;
  readonly workspaces: Workspaces;
  readonly knowledge: Knowledge;
  readonly fileProof: FileProof;
  readonly log: Log;
  /** Whether old things are removed and erasures gone on with in this process. */
  readonly works: boolean;
  readonly opened: Opened;
};

/** How long things are kept, what a person may take with them, and how they are erased. */
export function openPersonal(
  config: Config,
  { database, service, uploads, workspaces, knowledge, fileProof, works, opened, ...rest }: Parts,
): { readonly retention: Retention; readonly persons: Persons; readonly erasures: Erasures } {
  const { log } = rest;
  const withFiles = fileProof === "shared";
  const files = { database, uploads, workspaces, log, withFiles };
  const retention = createRetention({ ...files, old: service.old, configured: configuredRetention(config) });
  const erasures = createErasures({
    ...files,
    ...rest,
    runs: service.erasure,
    schedules: service.schedules,
    collections: knowledge.collections,
  });
  if (works) opened.push(retention.begin(), erasures.begin());
  const sources = { query: database.query, runs: service.runs, workspaces, placeOf: placesIn(config, uploads) };
  return { retention, erasures, persons: { archive: (userId) => archivePerson(sources, userId) } };
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
