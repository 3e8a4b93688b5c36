/** A JSON Schema as it goes to a provider. */
export type JsonSchema = { readonly [key: string]: unknown };

export type ModelContentPart =
  | { readonly type: "text"; readonly text: string }
  /** `url` is http(s) or a `data:` URL; adapters that need bytes refuse what is not `data:`. `name`: of the file it is of. */
  | { readonly type: "image"; readonly url: string; readonly name?: string };

/** One call a model asked for. `arguments` is JSON text exactly as the model wrote it. */
export type ModelCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ModelContentPart[]; readonly name?: string }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly reasoning?: string;
      /** What a provider wants back unchanged in the next request (signatures); only its own adapter reads it. */
      readonly opaque?: unknown;
      readonly calls?: readonly ModelCall[];
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly isError?: boolean;
    };

export type ToolSchema = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly strict?: boolean;
};

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

export type ResponseFormat =
  | { readonly type: "json" }
  | { readonly type: "json-schema"; readonly name: string; readonly schema: JsonSchema; readonly strict?: boolean };

/** What may be tuned. Absent means: the model's configured options, else the provider's default. */
export type ModelSettings = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly reasoningEffort?: string;
  readonly parallelCalls?: boolean;
};

export type ModelRequest = {
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSchema[];
  readonly toolChoice?: ToolChoice;
  readonly format?: ResponseFormat;
  readonly settings?: ModelSettings;
  /** Fields of OpenAI's protocol as the client wrote them, for providers that speak it. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Who asks and for what: goes to the call log, never to the provider. */
  readonly origin?: CallOrigin;
  /** Whoever asks tries again by themselves. */
  readonly once?: true;
  /** Receives the row of every provider request made for this call, failed ones too, before the stream ends. */
  readonly onCall?: (record: ModelCallRecord) => void;
};

export type CallOrigin = {
  readonly userId: string;
  readonly runId?: string;
  readonly step?: string;
  readonly attempt?: number;
  /** For requests to our own server: a header that makes what they start a part of this run. */
  readonly parent?: () => readonly [name: string, value: string];
};

export type FinishReason = "stop" | "length" | "calls" | "filter" | "other";

/** Tokens as the provider counted them; `estimated` when it did not and we did. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly estimated?: boolean;
};

/**
 * What a model streams. Order: one `start`, then any of `text`, `reasoning`, `call-*`, then one `finish`.
 * A call's `index` counts from 0 in order of appearance; its `id` is minted by us, never the provider's.
 */
export type ModelPart =
  /** Which model really serves (differs from the asked one in a fallback chain). */
  | {
      readonly type: "start";
      readonly model: string;
      readonly provider: string;
      /** Pictures of the request in whose place it read a line of text, since it takes none. */
      readonly unseen?: number;
    }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** `given`: the provider's own id, which may be another call's too. */
  | {
      readonly type: "call-start";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly given?: string;
    }
  | { readonly type: "call-delta"; readonly index: number; readonly arguments: string }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage;
      /** Which of the `stop` texts ended it, with "stop"; absent: none did, or the provider does not say. */
      readonly stopSequence?: string;
      readonly opaque?: unknown;
    };

export type ModelStream = AsyncIterable<readonly ModelPart[]>;

/** What servers of OpenAI's protocol may have beside chat. */
export type OtherPath = "rerank" | "audio/speech" | "audio/transcriptions" | "images/generations";

/** A request that is passed on in the words of whoever asks; `bodyFor` writes it for the name that the provider knows. */
export type PassedRequest = {
  readonly path: OtherPath;
  bodyFor(model: string): Promise<{ readonly contentType: string; readonly bytes: string | Uint8Array }>;
};

/** The answer as it came, of bounded size. */
export type PassedAnswer = { readonly contentType: string; readonly bytes: Uint8Array };

/**
 * Something that answers a prompt.
 * Contract: `stream` yields one batch per network read; it throws only ModelError; it throws `aborted` soon after
 * the signal fires and closes its connection then, and also when the consumer stops iterating. A stream that
 * ends without throwing has yielded exactly one `finish`.
 */
export interface Model {
  /** The name it is addressed by: its config id or `<provider>/<name>`. */
  readonly id: string;
  readonly provider: string;
  /** The name the provider knows. */
  readonly name: string;
  /** Tokens of prompt and answer together, as far as known by now. */
  readonly contextTokens: number;
  /** Who says so; absent where it depends. */
  readonly contextFrom?: "configured" | "told" | "assumed" | undefined;
  /** Finds out `contextTokens` where only the server knows; undefined: nothing to wait for. Takes a second at most, never throws. */
  ready?(): Promise<void> | undefined;
  /** Of a chain: who may serve, by id, in order. */
  readonly members?: readonly string[];
  /** Private servers that it is asked at, as `host:port`: each may answer one request at a time, whatever model it is for. */
  readonly servers?: readonly string[];
  /** Served by rules, not by an LLM. */
  readonly demo?: boolean;
  stream(request: ModelRequest, signal: AbortSignal): ModelStream;
  /** Asks for something else than an answer; absent: its provider has nothing else. Throws ModelError. */
  pass?(request: PassedRequest, signal: AbortSignal): Promise<PassedAnswer>;
}

/** One request to a provider, for the call log. Times in milliseconds from the request. */
export type ModelCallRecord = {
  readonly id: string;
  readonly userId: string | null;
  readonly runId: string | null;
  readonly step: string | null;
  readonly attempt: number | null;
  /** The id it was asked by, and who served. */
  readonly asked: string;
  readonly model: string;
  readonly provider: string;
  readonly startedAt: Date;
  readonly firstPartMs: number | null;
  readonly totalMs: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly finish: FinishReason | null;
  readonly error: string | null;
};

/** What `GET /v1/models` and `doctor` show of a model. */
export type ModelInfo = {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly available: boolean;
  /** Why it is not available, in words for a person. */
  readonly reason?: string;
};

/** All models by name. Throws NotFound with the known names. */
export type ModelRegistry = {
  get(name: string): Model;
  has(name: string): boolean;
  list(): readonly ModelInfo[];
};
