import type { CallExpression } from "typescript/unstable/ast";
import { type Checker, type Type, type TypeReference, TypeFlags } from "typescript/unstable/sync";
import type { Column } from "./describe.ts";

export type Problem = { readonly column: string; readonly problem: string; readonly isNull?: true };

/** Compares the row type of a call with the columns that the database returns. */
export function compareRow(call: CallExpression, columns: readonly Column[], checker: Checker): Problem[] {
  const row = rowOf(call, checker);
  if (row.isTypeParameter())
    return [
      {
        column: "",
        problem: `the row type is ${checker.typeToString(row)}, which the caller chooses. Name the columns here.`,
      },
    ];
  const properties = checker.getPropertiesOfType(row);
  const types = checker.getTypeOfSymbol(properties);
  const declared = new Map(properties.map(({ name }, at) => [name, types[at]!]));
  const given = columns.map(({ name }) => name);
  const [others] = checker.getIndexInfosOfType(row);
  return [
    ...[...declared]
      .filter(([name, type]) => !given.includes(name) && !hasMember(type, TypeFlags.Undefined))
      .map(([column]) => ({
        column,
        problem: `the row type has "${column}", but the statement returns ${given.join(", ") || "no rows"}.`,
      })),
    ...given
      .filter((name, at) => given.indexOf(name) !== at)
      .map((column) => ({ column, problem: `the statement returns "${column}" twice.` })),
    ...columns.flatMap((column) => {
      const type = declared.get(column.name) ?? others?.valueType;
      return type ? compareColumn(column, type, checker) : [];
    }),
  ];
}

/** The `Row` of the returned `Promise<Row[]>`, whether it is written at the call or inferred. */
function rowOf(call: CallExpression, checker: Checker): Type {
  const [rows] = checker.getTypeArguments(checker.getTypeAtLocation(call) as TypeReference);
  return checker.getTypeArguments(rows as TypeReference)[0]!;
}

function compareColumn({ name: column, type, value, mayBeNull }: Column, declared: Type, checker: Checker): Problem[] {
  if (declared.flags & TypeFlags.AnyOrUnknown) return [];
  const says = `the row type says ${checker.typeToString(declared)}`;
  if (value === undefined)
    return [
      { column, problem: `"${column}" is ${type}, which the two drivers parse differently, so cast it; ${says}.` },
    ];
  const kinds = members(declared).map((member) => kindOf(member, checker));
  const isFit = value === "any" ? !kinds.includes("Date") : kinds.includes(value);
  return [
    ...(isFit
      ? []
      : [
          {
            column,
            problem: `"${column}" is ${type}, which arrives as ${value === "any" ? "JSON" : value}, but ${says}.`,
          },
        ]),
    ...(mayBeNull && !hasMember(declared, TypeFlags.Null)
      ? [{ column, problem: `"${column}" can be null, but ${says}.`, isNull: true as const }]
      : []),
  ];
}

function members(type: Type): readonly Type[] {
  return type.isUnionType() ? type.getTypes().flatMap(members) : [type];
}

function hasMember(type: Type, flags: TypeFlags): boolean {
  return members(type).some((member) => member.flags & flags);
}

/** A type that is narrower than the database knows, such as a union of words, counts as what it narrows. */
function kindOf(type: Type, checker: Checker): string {
  if (type.flags & TypeFlags.StringLike) return "string";
  if (type.flags & TypeFlags.NumberLike) return "number";
  if (type.flags & TypeFlags.BooleanLike) return "boolean";
  if (checker.isArrayLikeType(type)) {
    const [element] = checker.getTypeArguments(type as TypeReference);
    return `${[
      ...new Set(
        members(element!)
          .filter(({ flags }) => !(flags & TypeFlags.Null))
          .map((member) => kindOf(member, checker)),
      ),
    ].join(" | ")}[]`;
  }
  return type.getSymbol()?.name ?? checker.typeToString(type);
}
