/**
 * Finds the calls of a `Query` by its type and reads the texts of their statements from the source: the argument is evaluated in its own
 * module, together with the local constants that it uses.
 */
import { registerHooks } from "node:module";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type CallExpression,
  type Identifier,
  isArrowFunction,
  isBindingElement,
  isCallExpression,
  isFunctionDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type Node,
  NodeFlags,
  type SourceFile,
} from "typescript/unstable/ast";
import { API, type Checker, type Type, TypeFlags } from "typescript/unstable/sync";

const root = join(import.meta.dirname, "../..");

export type Statement = {
  readonly file: string;
  readonly line: number;
  /** As a stack trace names it: `<path>:<line>:<column>`. */
  readonly place: string;
  /** The name of the function around it. */
  readonly within: string;
  readonly call: CallExpression;
  /** One for each case, where the text depends on a choice. */
  readonly texts: readonly string[];
  /** Whether `texts` holds every case. */
  readonly isWhole: boolean;
};

export type Statements = {
  readonly statements: readonly Statement[];
  readonly checker: Checker;
  close(): void;
};

type Reading = {
  /** The source of a function that returns the text. */
  readonly code: string;
  /** Values that are known only at run time; the parameters of that function. */
  readonly open: readonly Identifier[];
};

type Read = (...open: unknown[]) => unknown;

/** Finds the statements of all files below `folder` in the project of `tsconfig`. */
export async function findStatements(tsconfig: string, folder: string): Promise<Statements> {
  const api = new API({ cwd: root });
  const [project] = api.updateSnapshot({ openProjects: [join(root, tsconfig)] }).getProjects();
  const { checker, program } = project!;
  const names = program.getSourceFileNames().filter((name) => name.startsWith(join(root, folder)));
  const statements: Statement[] = [];
  for (const file of names.map((name) => program.getSourceFile(name)!)) {
    const calls = queriesOf(file, checker);
    const readings = calls.map((call) => readingOf(call.arguments[0]!, checker));
    const read = await evaluate(file.fileName, readings);
    for (const [at, call] of calls.entries()) {
      const { expression } = call;
      const name = isPropertyAccessExpression(expression) ? expression.name : expression;
      const { line, character } = file.getLineAndCharacterOfPosition(name.getStart());
      statements.push({
        ...{ file: relative(root, file.fileName), line: line + 1, within: nameOf(call), call },
        place: `${file.fileName}:${line + 1}:${character + 1}`,
        ...textsOf(read[at]!, readings[at]!.open, checker),
      });
    }
  }
  return { statements, checker, close: () => api.close() };
}

/** Loads the module once more, with the functions of the readings appended. */
async function evaluate(file: string, readings: readonly Reading[]): Promise<readonly Read[]> {
  if (readings.length === 0) return [];
  const own = `${pathToFileURL(file)}?statements`;
  const code = `\nexport const statements = [${readings.map((each) => each.code).join(",\n")}];`;
  const hooks = registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === own ? { ...loaded, source: `${loaded.source}${code}` } : loaded;
    },
  });
  const { statements } = (await import(own)) as { readonly statements: readonly Read[] };
  hooks.deregister();
  return statements;
}

function queriesOf(file: SourceFile, checker: Checker): CallExpression[] {
  if (!file.text.includes("uery")) return [];
  const calls: CallExpression[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && mayBeQuery(node)) calls.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  const types = checker.getTypeAtLocation(calls.map(({ expression }) => expression));
  return calls.filter((_, at) => types[at]?.getAliasSymbol()?.name === "Query");
}

/** Spares asking the compiler for the type of every call. */
function mayBeQuery({ expression, arguments: { length } }: CallExpression): boolean {
  return (
    length > 0 && (isPropertyAccessExpression(expression) ? expression.name.text === "query" : isIdentifier(expression))
  );
}

function readingOf(expression: Node, checker: Checker): Reading {
  const lines: string[] = [];
  const open: Identifier[] = [];
  const grown: string[] = [];
  const known = new Set<Node>();
  const take = (node: Node, within: Node): void => {
    node.forEachChild((child) => take(child, within));
    if (!isIdentifier(node)) return;
    const declaration = checker.getSymbolAtLocation(node)?.valueDeclaration?.resolve();
    if (!declaration || !isLocal(declaration) || isInside(declaration, within)) return;
    const whole = declarationOf(declaration);
    if (known.has(whole ?? declaration)) return;
    known.add(whole ?? declaration);
    if (!whole) return void open.push(node);
    grown.push(node.text);
    take(whole.initializer!, whole.initializer!);
    lines.push(`const ${whole.getText()};`);
  };
  take(expression, expression);
  const body = `${lines.join("\n")} return ${expression.getText()};`;
  const grows = (text: string, name: string) => text.split(`${name}.push(`).length;
  const around = expression.getSourceFile().text;
  // Elements that are pushed by other statements would be missing.
  const isPart = grown.some((name) => grows(around, name) > grows(body, name));
  return { code: `(${open.map(({ text }) => text).join(", ")}) => { ${isPart ? "throw 0;" : ""} ${body} }`, open };
}

/** The constant that declares the name; undefined if its value is known only at run time. */
function declarationOf(node: Node) {
  let at = node;
  while (isBindingElement(at)) at = at.parent.parent;
  if (!isVariableDeclaration(at) || !at.initializer || !(at.parent.flags & NodeFlags.Const)) return undefined;
  return /\bawait\b/.test(at.initializer.getText()) ? undefined : at;
}

function isLocal(declaration: Node): boolean {
  for (let at: Node | undefined = declaration.parent; at; at = at.parent)
    if (isFunctionLikeDeclaration(at)) return true;
  return false;
}

function isInside(node: Node, outer: Node): boolean {
  for (let at: Node | undefined = node; at; at = at.parent) if (at === outer) return true;
  return false;
}

function nameOf(call: Node): string {
  for (let at: Node | undefined = call; at; at = at.parent) {
    const named =
      isFunctionDeclaration(at) || isMethodDeclaration(at) ? at : isArrowFunction(at) ? at.parent : undefined;
    const { name } = (named ?? {}) as { readonly name?: Node };
    if (name && isIdentifier(name)) return name.text;
  }
  return "";
}

/** One text for each combination of values that the types allow. */
function textsOf(read: Read, open: readonly Identifier[], checker: Checker): Pick<Statement, "texts" | "isWhole"> {
  let cases: unknown[][] = [[]];
  for (const name of open) {
    const values = valuesOf(checker.getTypeAtLocation(name)!, checker);
    cases = cases.flatMap((given) => values.map((value) => [...given, value]));
  }
  const all = cases.map((given) => {
    try {
      return String(read(...given));
    } catch {
      return unreadable;
    }
  });
  const texts = all.filter((text) => !/…|undefined/.test(text));
  return { texts, isWhole: texts.length === all.length };
}

const unreadable = "…";

/** The values of a type: all literals, or one that makes the text unreadable where it is inserted. */
function valuesOf(type: Type, checker: Checker): unknown[] {
  if (type.isUnionType()) return type.getTypes().flatMap((each) => valuesOf(each, checker));
  if (type.isLiteralType()) return [type.value];
  if (type.flags & TypeFlags.Null) return [null];
  if (type.flags & TypeFlags.Number) return [1];
  if (type.flags & TypeFlags.String) return [unreadable];
  if (type.flags & TypeFlags.Object) return [checker.isArrayLikeType(type) ? [] : anything];
  return [undefined];
}

/** An object with every member, each of which is this same object. */
const anything: unknown = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => unreadable : name === Symbol.iterator ? undefined : anything),
  apply: () => anything,
});
