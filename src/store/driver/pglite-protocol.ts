/** A parameter as it crosses to the worker: text as PostgreSQL reads it, or bytes. */
export type WireValue = string | Uint8Array | null;

/** Main thread → worker. Worked off strictly in order; each is answered by its id. */
export type WorkerRequest =
  | {
      readonly id: number;
      readonly kind: "query";
      readonly text: string;
      /** Without values the text may hold several statements. */
      readonly values: readonly WireValue[];
      /** Prepare it under this name, or use what is prepared. */
      readonly name?: string;
      /** Outside our transactions: a transaction that a failed script left open is rolled back at once. */
      readonly loose: boolean;
    }
  | { readonly id: number; readonly kind: "close" };

export type WorkerResult = {
  readonly rows: Record<string, unknown>[];
  readonly command: string;
};

/** The fields of an SQL error that are safe to show: never the parameters. */
export type WireError = {
  readonly message: string;
  readonly code?: string;
  readonly [field: string]: string | undefined;
};

/** Worker → main thread. */
export type WorkerAnswer =
  | { readonly kind: "result"; readonly id: number; readonly result: WorkerResult }
  | { readonly kind: "failure"; readonly id: number; readonly error: WireError }
  | { readonly kind: "notification"; readonly channel: string; readonly payload: string }
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "ready" }
  /** PGlite can't go on: the worker ends after this. */
  | { readonly kind: "fatal"; readonly message: string };

export type WorkerData = {
  /** Where the database is, or is to be made. */
  readonly directory: string;
  /** A database to begin with, if one is to be made: a folder, which need not be there. */
  readonly prepared?: string;
  /** One Int32: fsyncs that reached the disk. */
  readonly syncs: SharedArrayBuffer;
};
