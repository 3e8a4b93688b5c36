import type { AnySchema, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** What left the server for one request. */
export type SentAnswer = {
  readonly method: string;
  /** As the routes name it, with `:name` and `*`; undefined: there is no such route. */
  readonly route: string | undefined;
  readonly status: number;
  readonly contentType: string | undefined;
  /** Undefined: too long to be kept. */
  readonly body: Buffer | undefined;
  /** False: the connection broke, or the server did not come to the end. */
  readonly whole: boolean;
};

type Media = { readonly schema?: AnySchema };
type Response = { readonly content?: Readonly<Record<string, Media>> };
type Operation = { readonly responses?: Readonly<Record<string, Response>> };
export type ApiDocument = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, verbose: true });
/** By the text of their schemas: those of failures are all alike. */
const validators = new Map<string, ValidateFunction>();
const texts = new WeakMap<object, string>();

/** What an answer has that the document does not say, a line each; none: it is as the document says. */
export function judgeAnswer(document: ApiDocument, answer: SentAnswer): string[] {
  const { method, route, status } = answer;
  if (route === undefined) return [];
  const operation = document.paths[documentPath(route)]?.[method.toLowerCase()];
  if (!operation) return ["the document has no such operation"];
  const response = operation.responses?.[status] ?? operation.responses?.[`${Math.floor(status / 100)}XX`];
  if (!response) return [`the status ${status} is not described`];
  if (!response.content)
    return answer.body === undefined || answer.body.length > 0 ? ["there is a body, and none is described"] : [];
  return judgeBody(response.content, answer);
}

function judgeBody(content: Readonly<Record<string, Media>>, { contentType, body, whole }: SentAnswer): string[] {
  if (!whole && contentType === undefined) return [];
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "nothing";
  const media = content[type] ?? content["*/*"];
  if (!media) return [`the body is ${type}; described are ${Object.keys(content).join(", ")}`];
  // A file's schema is of its bytes, whatever they are.
  if (body === undefined || media.schema === undefined || media === content["*/*"]) return [];
  if (type === "text/event-stream") return judgeEvents(media.schema, body.toString());
  if (type === "application/x-ndjson") return judgeLines(media.schema, body.toString());
  if (type !== "application/json" || !whole) return [];
  return judgeValue(media.schema, body.toString());
}

function judgeValue(schema: AnySchema, text: string): string[] {
  const value = parsed(text);
  return value === undefined ? ["the body is not JSON"] : violations(schema, value);
}

/** The schema is that of one line; what stands behind the last line break was cut off. */
function judgeLines(schema: AnySchema, text: string): string[] {
  if (typeof schema === "object" && schema["type"] === "string") return [];
  const lines = text.split("\n").slice(0, -1);
  return [...new Set(lines.flatMap((line) => judgeValue(schema, line)))];
}

/** The schema is that of one event: its name, its id, and its data, parsed where it is JSON. */
function judgeEvents(schema: AnySchema, text: string): string[] {
  if (typeof schema === "object" && schema["type"] === "string") return [];
  const faults = text
    .split("\n\n")
    // What stands behind the last blank line was cut off.
    .slice(0, -1)
    .flatMap((block) => {
      const event = eventOf(block);
      return event ? violations(schema, event).map((fault) => `event ${event["event"] ?? ""}: ${fault}`) : [];
    });
  return [...new Set(faults)];
}

/** Undefined for comments. */
function eventOf(block: string): Record<string, unknown> | undefined {
  const fields = block.split("\n").flatMap((line) => {
    const match = /^(event|data|id): ?(.*)$/.exec(line);
    return match ? [[match[1]!, match[2]!] as const] : [];
  });
  const of = (name: string) => fields.filter(([field]) => field === name).map(([, value]) => value);
  const [name] = of("event");
  const [id] = of("id");
  const data = of("data");
  if (data.length === 0) return undefined;
  return {
    ...(name !== undefined && { event: name }),
    ...(id !== undefined && { id }),
    data: parsed(data.join("\n")) ?? data.join("\n"),
  };
}

function violations(schema: AnySchema, value: unknown): string[] {
  if (typeof schema !== "object") return [];
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  let validate = validators.get(text);
  if (!validate) validators.set(text, (validate = ajv.compile(schema)));
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, 5).map(({ instancePath, message, params, data }) => {
    const found = JSON.stringify(data)?.slice(0, 200);
    return `${instancePath || "the value"} ${message} ${JSON.stringify(params)}, but is ${found}`;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** `/v1/models/*` stands there as `/v1/models/{id}`, any other rest of a path as `{path}`. */
function documentPath(route: string): string {
  const named = route.replace(/\*$/, route.startsWith("/v1/models/") ? "{id}" : "{path}");
  return named.replaceAll(/:(\w+)/g, "{$1}");
}
