import { join, resolve, sep } from "node:path";
import type { Config } from "./config.ts";
import { archivePerson, type PersonSources } from "./http/person-archive.ts";
import type { Erasures, Persons, Retention } from "./http/services.ts";
import type { Knowledge } from "./knowledge/knowledge.ts";
import type { Uploads } from "./knowledge/uploads.ts";
import { createErasures, type ErasureParts } from "./main-erasure.ts";
import { configuredRetention, createRetention } from "./main-retention.ts";
import type { Opened } from "./main-store.ts";
import { NotFound } from "./protocol/errors.ts";
import type { Log } from "./protocol/log.ts";
import type { RunsService } from "./run/create-runs.ts";
import type { Workspaces } from "./sandbox/workspaces.ts";
import type { Database } from "./store/database.ts";
import type { FileProof } from "./store/node-marker.ts";

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
