/**
 * Every statement of `src/`, as far as its text can be read without running it: calls of a `Query` are found by their type, and what
 * they are given is evaluated inside its own module, with the local constants it is made of.
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
  /** Where it is in a stack. */
  readonly place: string;
  /** Of the function that it is in. */
  readonly within: string;
  readonly call: CallExpression;
  /** What it can be; a choice in it makes several. */
  readonly texts: readonly string[];
  /** These are all. */
  readonly isWhole: boolean;
};

export type Statements = {
  readonly statements: readonly Statement[];
  readonly checker: Checker;
  close(): void;
};

type Reading = {
  /** The source of a function that gives the text. */
  readonly code: string;
  /** What it depends on that is known at run time only: its parameters. */
  readonly open: readonly Identifier[];
};

type Read = (...open: unknown[]) => unknown;

/** Those of the files under a folder, which belong to the project of a tsconfig.json. */
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

/** What the readings are in their own module, which is loaded anew for it. */
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

/** Asking for a type takes longer than this look. */
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
  // What statements in between put into it is not in here.
  const isPart = grown.some((name) => grows(around, name) > grows(body, name));
  return { code: `(${open.map(({ text }) => text).join(", ")}) => { ${isPart ? "throw 0;" : ""} ${body} }`, open };
}

/** The declaration with a value that needs nothing but what is read here; undefined: it is known at run time only. */
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

/** One for each case that the types of what it depends on leave. */
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

/** A value of each kind that it may have. What is put into the text as it is, no database will take. */
function valuesOf(type: Type, checker: Checker): unknown[] {
  if (type.isUnionType()) return type.getTypes().flatMap((each) => valuesOf(each, checker));
  if (type.isLiteralType()) return [type.value];
  if (type.flags & TypeFlags.Null) return [null];
  if (type.flags & TypeFlags.Number) return [1];
  if (type.flags & TypeFlags.String) return [unreadable];
  if (type.flags & TypeFlags.Object) return [checker.isArrayLikeType(type) ? [] : anything];
  return [undefined];
}

/** Has every member, and each is the same. */
const anything: unknown = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => unreadable : name === Symbol.iterator ? undefined : anything),
  apply: () => anything,
});
