import { z } from "zod";
import { commandLineOf } from "../../protocol/agents/command-line.ts";
import { AccessDenied, InvalidInput } from "../../protocol/base/errors.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { type DefinitionKind, entrySchema, type EntryView, problemSchema } from "../../protocol/agents/definitions.ts";
import { endpoint } from "../server/endpoint.ts";
import { idSchema, type Shape } from "../../protocol/base/shapes.ts";
import { listOf } from "../shapes/schemas.ts";
import type { Services } from "../server/services.ts";
import { entryView } from "../shapes/definition-view.ts";
import type { DefinitionEntry } from "../../definitions/resolve.ts";
import { shownDefinition } from "../../definitions/secrets.ts";

const definitionSchema = z.record(z.string(), z.unknown()).describe("As in a file, without its id");
const newIdSchema = z.string().min(1).max(64);
const confirmSchema = z
  .string()
  .max(100_000)
  .optional()
  .describe("Of what runs a program here: the whole command line, so that somebody has seen it");
const plainDraftSchema = z.strictObject({ id: newIdSchema, definition: definitionSchema });
export const draftSchema = plainDraftSchema.extend({ confirm: confirmSchema });
export const definitionParams = z.object({ id: z.string().max(200) });
const revisionSchema = idSchema.describe("That was read: another one means that somebody else has changed it (409)");

type DefinitionCall = { readonly services: Services; readonly caller: Caller };

/** What a kind of definition is called, and what it has beside what all have. */
export type DefinitionWords<Fields extends z.ZodRawShape> = {
  readonly one: string;
  readonly many: string;
  readonly shape: Fields;
  /** How they are doing, for whoever asks; asked once for a list. */
  readonly look: (
    services: Services,
    caller: Caller,
  ) => Promise<(entry: DefinitionEntry) => Shape<z.ZodObject<Fields>>>;
};

type GivenDraft = {
  readonly id: string;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly confirm?: string | undefined;
};

/**
 * Throws InvalidInput `command_unconfirmed` for what is in order but would run a program that nobody has confirmed, and AccessDenied
 * `key_scoped` for a key: what runs a program as the server's user may do all that this user may.
 */
export function confirmedDraft(
  { services: { definitions }, caller }: DefinitionCall,
  kind: DefinitionKind,
  { id, definition, confirm }: GivenDraft,
): Omit<GivenDraft, "confirm"> {
  const command = commandLineOf(kind, definition);
  if (command !== undefined && caller.key !== undefined)
    throw new AccessDenied(
      403,
      "API keys can't define anything that runs a program: log in, or add it to colloquy.yaml.",
      {
        code: "key_scoped",
      },
    );
  const isConfirmed = command === undefined || command === confirm;
  if (!isConfirmed && definitions.check(kind, { id, definition }).problems.length === 0)
    throw new InvalidInput(
      `This runs a program as the user of this server: ${command} To confirm it, send exactly that as "confirm".`,
      { code: "command_unconfirmed", param: "confirm" },
    );
  return { id, definition };
}

/** Listing, reading and changing definitions: the same for all kinds. */
export function definitionEndpoints<Fields extends z.ZodRawShape>(
  kind: DefinitionKind,
  { one, many, shape, look }: DefinitionWords<Fields>,
) {
  const viewSchema = entrySchema.extend(shape);
  type View = EntryView & Shape<z.ZodObject<Fields>>;
  const view = async ({ services, caller }: DefinitionCall, entry: DefinitionEntry): Promise<View> => ({
    ...entryView(entry),
    ...(await look(services, caller))(entry),
  });

  const list = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `List the ${many}, with where each is defined and how it is doing`,
    description:
      "One that is defined in several places has a row for the database too, which is `shadowed` there: environment and " +
      "files count more than the database, which counts more than what is built in.",
    answers: { 200: listOf(viewSchema) },
    async handle({ caller, services }) {
      const doing = await look(services, caller);
      const entries = services.definitions.entries(kind);
      return { data: entries.map((entry) => ({ ...entryView(entry), ...doing(entry) })) };
    },
  });

  const get = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `Get ${one}`,
    params: definitionParams,
    query: z.object({
      source: z.literal("database").optional().describe("The entry of the database, though shadowed"),
    }),
    answers: { 200: viewSchema },
    async handle({ params, query, caller, services }) {
      return view({ services, caller }, services.definitions.find(kind, params.id, query.source === "database"));
    },
  });

  const create = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `Define ${one}`,
    description:
      "It counts at once, on every node. 422 (`definition_invalid`) has all problems; 409: `read_only`, `exists`.",
    body: draftSchema,
    answers: { 201: viewSchema },
    async handle({ body, caller, services, reply }) {
      const entry = await services.definitions.create(kind, confirmedDraft({ services, caller }, kind, body), caller);
      reply.code(201);
      return view({ services, caller }, entry);
    },
  });

  const change = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `Change ${one} that was defined here`,
    description:
      "The whole definition; a secret that is sent back as *** stays as it is. 409: `changed_meanwhile`, `read_only`.",
    params: definitionParams,
    body: z.strictObject({ revision: revisionSchema, definition: definitionSchema, confirm: confirmSchema }),
    answers: { 200: viewSchema },
    async handle({ params, body, caller, services }) {
      const draft = confirmedDraft({ services, caller }, kind, { id: params.id, ...body });
      return view(
        { services, caller },
        await services.definitions.change(kind, { ...draft, revision: body.revision }, caller),
      );
    },
  });

  const remove = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `Delete ${one} that was defined here`,
    params: definitionParams,
    query: z.object({
      revision: revisionSchema.optional(),
      force: z.stringbool().default(false).describe("Though others need it"),
    }),
    answers: { 204: z.null() },
    async handle({ params, query, services, reply }) {
      await services.definitions.remove(kind, { id: params.id, ...query });
      reply.code(204);
    },
  });

  const validate = endpoint({
    needs: "admin:definitions",
    tag: "admin",
    summary: `Look at a definition of ${one} without keeping it`,
    body: plainDraftSchema,
    answers: {
      200: z.object({
        valid: z.boolean(),
        problems: z.array(problemSchema),
        definition: z.unknown().describe("With all that was left out"),
      }),
    },
    async handle({ body, services }) {
      const { problems, definition, body: given } = await services.definitions.examine(kind, body);
      const shown = shownDefinition(kind, definition ?? given).definition;
      return { valid: problems.length === 0, problems, definition: shown };
    },
  });

  return { list, get, create, change, remove, validate };
}
