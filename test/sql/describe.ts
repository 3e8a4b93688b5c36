import { join } from "node:path";
import { PGlite, protocol } from "@electric-sql/pglite";
import { pg_textsearch } from "@electric-sql/pglite-pg_textsearch";
import { vector } from "@electric-sql/pglite-pgvector";
import pg from "pg";
import type { Place } from "../databases.ts";

/** A column that a statement returns. */
export type Column = {
  readonly name: string;
  /** In PostgreSQL. */
  readonly type: string;
  /** In JavaScript; `any` for JSON, undefined if the drivers disagree. */
  readonly value: string | undefined;
  /** False also where it is unknown: for most expressions, and for columns of views and unions. */
  readonly mayBeNull: boolean;
};

export type Describer = {
  /** Asks the database for the columns without running the statement. Rejects if the database rejects it. */
  describe(text: string): Promise<readonly Column[]>;
  close(): Promise<void>;
};

/** What RowDescription says of a column. */
type Field = {
  readonly name: string;
  readonly dataTypeID: number;
  readonly tableID: number;
  readonly columnID: number;
};

type Connection = {
  fields(text: string): Promise<readonly Field[]>;
  rows(text: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
};

/** What the drivers make of PostgreSQL's types, with `src/store/driver/values.ts`. */
const values: Readonly<Record<string, RegExp>> = {
  number: /^(smallint|integer|bigint|real|double precision)(\[\])?$/,
  string: /^(text|character varying|uuid)(\[\])?$|^(name|date|numeric|regclass)$/,
  boolean: /^boolean(\[\])?$/,
  Date: /^timestamp with time zone$/,
  Uint8Array: /^bytea$/,
  any: /^jsonb?$/,
};

export async function openDescriber({ url, dataDirectory }: Place): Promise<Describer> {
  const { fields, rows, close } = await (url ? openPostgres(url) : openPGlite(join(dataDirectory, "db")));
  const names = await rows("select oid::integer, format_type(oid, null) as name from pg_type");
  const types = new Map(names.map(({ oid, name }) => [oid, String(name)]));
  const optional = await rows(`select attrelid::integer as table, attnum as column from pg_attribute
    where attnum > 0 and not attnotnull and attrelid in (select oid from pg_class where relkind in ('r', 'p'))`);
  const mayBeNull = new Set(optional.map(({ table, column }) => `${table} ${column}`));
  return {
    async describe(text) {
      const described = await fields(text);
      // Only on PGlite: before version 16, PostgreSQL can't plan without values for the parameters.
      const empty = described.length > 0 && !url ? emptyByPlan(await planOf(text)) : [];
      return described.map(({ name, dataTypeID, tableID, columnID }, at) => {
        const type = types.get(dataTypeID)!;
        const value = Object.keys(values).find((each) => values[each]!.test(type));
        return {
          ...{ name, type, value: value && type.endsWith("[]") ? `${value}[]` : value },
          mayBeNull: mayBeNull.has(`${tableID} ${columnID}`) || (empty[at] ?? false),
        };
      });
    },
    close,
  };

  async function planOf(text: string): Promise<Plan> {
    const [row] = await rows(`explain (verbose, generic_plan, format json) ${text}`);
    return (row!["QUERY PLAN"] as readonly { readonly Plan: Plan }[])[0]!.Plan;
  }
}

type Plan = {
  readonly Alias?: string;
  readonly Output?: readonly string[];
  readonly "Join Type"?: string;
  readonly "Parent Relationship"?: string;
  readonly Plans?: readonly Plan[];
};

/** Which columns can be null because of an outer join, an aggregate over no rows, or a missing member of JSON. */
function emptyByPlan(plan: Plan): boolean[] {
  const optional = new Set(optionalAliases(plan));
  // A group is never empty.
  const isGrouped = JSON.stringify(plan).includes('"Group Key"');
  return (plan.Output ?? []).map((output) => {
    const expression = output.replace(/^\(+/, "");
    const [, alias] = /^(\w+)\.\w+\)*$/.exec(expression) ?? [];
    return (
      (alias !== undefined && optional.has(alias)) ||
      (!isGrouped && /^(max|min|sum|avg|array_agg|string_agg|jsonb?_(object_)?agg)\(/.test(expression)) ||
      /^[\w.]+ #?->> '[^']*'(::[\w[\]]+)?\)*(::\w+)?$/.test(expression)
    );
  });
}

/** The aliases on the side of an outer join that can be missing. */
function optionalAliases({ "Join Type": join = "", Plans = [] }: Plan): string[] {
  const sides = { Left: ["Inner"], Right: ["Outer"], Full: ["Inner", "Outer"] }[join] ?? [];
  return Plans.flatMap((below) => [
    ...(sides.includes(below["Parent Relationship"] ?? "") ? aliases(below) : []),
    ...optionalAliases(below),
  ]);
}

function aliases({ Alias, Plans = [] }: Plan): string[] {
  return [...(Alias === undefined ? [] : [Alias]), ...Plans.flatMap(aliases)];
}

async function openPGlite(dataDir: string): Promise<Connection> {
  const database = await PGlite.create({ dataDir, extensions: { vector, pg_textsearch } });
  const { parse, describe, sync } = protocol.serialize;
  return {
    async fields(text) {
      const { messages } = await database.execProtocol(
        Buffer.concat([parse({ text }), describe({ type: "S" }), sync()]),
      );
      const described = messages.find((message) => message.name === "rowDescription") as
        | { fields?: Field[] }
        | undefined;
      return described?.fields ?? [];
    },
    rows: async (text) => (await database.exec(text))[0]!.rows,
    close: () => database.close(),
  };
}

async function openPostgres(url: string): Promise<Connection> {
  const client = new pg.Client(url);
  await client.connect();
  return {
    fields: (text) =>
      new Promise((resolve, reject) => {
        let fields: readonly Field[] = [];
        // What `pg` calls a submittable: the connection is its own until the server is ready for the next.
        const asked = {
          submit(connection: pg.Connection) {
            connection.parse({ text } as never, true);
            connection.describe({ type: "S" } as never, true);
            connection.sync();
          },
          handleRowDescription: (message: { readonly fields: readonly Field[] }) => void (fields = message.fields),
          handleError: reject,
          handleReadyForQuery: () => resolve(fields),
        };
        client.query(asked as unknown as pg.Submittable);
      }),
    rows: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    close: () => client.end(),
  };
}
