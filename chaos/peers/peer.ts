/** What a run is now, as its server tells it. */
export type Seen = {
  readonly status: "running" | "done" | "failed" | "gone";
  readonly answer?: string;
  readonly error?: string;
  /** Writes of which the server says, now, that it does not know whether they happened. */
  readonly unknown?: readonly Unknown[];
};

export type Unknown = {
  readonly effect: string;
  /** What a person decides who has looked outside. */
  settle(happened: boolean): Promise<void>;
};

/** What a follower of a run's stream was told. */
export type Followed = { readonly text: string; readonly faults: readonly string[] };

/** A server under the same load and harm as all others: one process (or group of them) that can be killed. */
export type Peer = {
  /** Ready to take runs when it resolves. */
  start(): Promise<void>;
  /** kill -9, of all its processes at once. */
  kill(): Promise<void>;
  /** Killed for good: nothing of it is left in this process either. */
  close(): Promise<void>;
  /** Resolves once the run is accepted; throws if it can't be told whether it is. The same id again is the same run. */
  submit(id: string, message: string, signal: AbortSignal): Promise<void>;
  look(id: string, signal: AbortSignal): Promise<Seen>;
  /** Follows from the beginning to the end, over lost connections. Absent: its stream does not outlive its process. */
  follow?(id: string, signal: AbortSignal): Promise<Followed>;
};

export type PeerOptions = {
  /** Empty; keeps data and logs. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly modelUrl: string;
  readonly outsideUrl: string;
};
