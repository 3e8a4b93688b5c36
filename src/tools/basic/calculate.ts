import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { defineTool } from "../core/define-tool.ts";

const maximumLength = 1_000;
const maximumDepth = 100;
/** Doubles keep 15 to 17 digits; the last ones are rounding noise (0.1 + 0.2). */
const significantDigits = 12;

export const calculate = defineTool({
  name: "calculate",
  description:
    "Evaluates an arithmetic expression exactly as written. Operators + - * / ^ and % (remainder), parentheses, " +
    "pi and e, functions sqrt abs round floor ceil min max log (base 10) ln exp sin cos tan (radians). " +
    "Example: round((1200 - 15.5) * 1.19)",
  input: z.object({ expression: z.string().trim().min(1).max(maximumLength) }),
  effect: "read",
  isPublic: true,
  execute: ({ expression }) => {
    const value = evaluate(expression);
    return { content: formatNumber(value), data: value };
  },
});

type NumberFunction = { readonly arity: 1 | "any"; readonly apply: (...values: number[]) => number };

const functions: ReadonlyMap<string, NumberFunction> = new Map<string, NumberFunction>([
  ["sqrt", { arity: 1, apply: Math.sqrt }],
  ["abs", { arity: 1, apply: Math.abs }],
  ["round", { arity: 1, apply: roundHalfAway }],
  ["floor", { arity: 1, apply: Math.floor }],
  ["ceil", { arity: 1, apply: Math.ceil }],
  ["min", { arity: "any", apply: Math.min }],
  ["max", { arity: "any", apply: Math.max }],
  ["log", { arity: 1, apply: Math.log10 }],
  ["ln", { arity: 1, apply: Math.log }],
  ["exp", { arity: 1, apply: Math.exp }],
  ["sin", { arity: 1, apply: Math.sin }],
  ["cos", { arity: 1, apply: Math.cos }],
  ["tan", { arity: 1, apply: Math.tan }],
]);

const constants: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

type Operator = {
  readonly precedence: number;
  readonly rightToLeft?: true;
  readonly apply: (left: number, right: number) => number;
};

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["+", { precedence: 1, apply: add }],
  ["-", { precedence: 1, apply: (left, right) => add(left, -right) }],
  ["*", { precedence: 2, apply: (left, right) => left * right }],
  ["/", { precedence: 2, apply: (left, right) => left / nonZero(right) }],
  ["%", { precedence: 2, apply: (left, right) => left % nonZero(right) }],
  ["^", { precedence: 4, rightToLeft: true, apply: (left, right) => left ** right }],
]);
/** A sign binds tighter than *, looser than ^: -2^2 is -4, and 2^-1 is 0.5. */
const signPrecedence = 3;

type Token = { readonly kind: "number" | "name" | "symbol" | "end"; readonly text: string; readonly position: number };

/** The value of an expression. Throws InvalidInput that says what is wrong and where. */
export function evaluate(expression: string): number {
  if (expression.length > maximumLength) {
    throw new InvalidInput(`The expression is longer than ${maximumLength} characters.`);
  }
  const tokens = tokenise(expression);
  let next = 0;
  const peek = (): Token => tokens[next] ?? { kind: "end", text: "", position: expression.length };
  const take = (): Token => {
    const token = peek();
    next++;
    return token;
  };
  const expect = (symbol: string): void => {
    if (peek().text !== symbol) throw unexpected(peek(), `expected ${symbol}`);
    next++;
  };

  function parseOperation(minimum: number, depth: number): number {
    let left = parseOperand(depth);
    for (;;) {
      const operator = operators.get(peek().text);
      if (!operator || operator.precedence < minimum) return left;
      next++;
      const right = parseOperation(operator.precedence + (operator.rightToLeft ? 0 : 1), depth + 1);
      left = real(operator.apply(left, right));
    }
  }

  function parseOperand(depth: number): number {
    if (depth > maximumDepth) throw new InvalidInput(`The expression is nested more than ${maximumDepth} levels deep.`);
    const token = take();
    if (token.kind === "number") return real(Number(token.text));
    if (token.kind === "name") return parseName(token, depth);
    if (token.text === "-") return -parseOperation(signPrecedence, depth + 1);
    if (token.text === "+") return parseOperation(signPrecedence, depth + 1);
    if (token.text !== "(") throw unexpected(token, "expected a number");
    const value = parseOperation(0, depth + 1);
    expect(")");
    return value;
  }

  function parseName(token: Token, depth: number): number {
    const name = token.text.toLowerCase();
    const constant = constants.get(name);
    if (constant !== undefined) return constant;
    const numberFunction = functions.get(name);
    if (!numberFunction) {
      const known = [...functions.keys(), ...constants.keys()].join(", ");
      throw new InvalidInput(`${JSON.stringify(token.text)} is unknown. Available: ${known}.`);
    }
    expect("(");
    const values = [parseOperation(0, depth + 1)];
    while (peek().text === "," && numberFunction.arity === "any") {
      next++;
      values.push(parseOperation(0, depth + 1));
    }
    expect(")");
    return real(numberFunction.apply(...values));
  }

  const value = parseOperation(0, 0);
  if (peek().kind !== "end") throw unexpected(peek(), "expected an operator");
  return value;
}

/** Without rounding noise: whole numbers in full, others with 12 significant digits. */
export function formatNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value + 0);
  return String(Number(value.toPrecision(significantDigits)));
}

const tokenPattern = /\s*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|([a-zA-Z_]\w*)|(\*\*|[-+*/%^(),×÷−]))/y;
const spellings: ReadonlyMap<string, string> = new Map([
  ["**", "^"],
  ["×", "*"],
  ["÷", "/"],
  ["−", "-"],
]);

function tokenise(expression: string): Token[] {
  const text = expression.trimEnd();
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    tokenPattern.lastIndex = position;
    const match = tokenPattern.exec(text);
    if (!match) {
      const start = position + (/^\s*/.exec(text.slice(position))?.[0].length ?? 0);
      throw unexpected(
        { kind: "symbol", text: text.slice(start, start + 1), position: start },
        "not part of arithmetic",
      );
    }
    const [all, number, name, symbol = ""] = match;
    position += all.length;
    const start = position - all.trimStart().length;
    if (number !== undefined) tokens.push({ kind: "number", text: number, position: start });
    else if (name !== undefined) tokens.push({ kind: "name", text: name, position: start });
    else tokens.push({ kind: "symbol", text: spellings.get(symbol) ?? symbol, position: start });
  }
  return tokens;
}

/** Of each part, not only of the whole: 1 / 10^400 has no value that could be trusted. */
function real(value: number): number {
  if (Number.isNaN(value)) throw new InvalidInput("Part of the expression is not a real number.");
  if (!Number.isFinite(value)) throw new InvalidInput("Part of the expression is too large.");
  return value;
}

/** 0.1 + 0.2 - 0.3 is 0: what is left of two nearly equal numbers after the last digits cancelled is noise. */
function add(left: number, right: number): number {
  const sum = left + right;
  if (Number.isInteger(left) && Number.isInteger(right)) return sum;
  return Math.abs(sum) <= 4 * Number.EPSILON * Math.max(Math.abs(left), Math.abs(right)) ? 0 : sum;
}

/** Halves go away from zero, as people round; Math.round(-2.5) is -2. */
function roundHalfAway(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

function nonZero(divisor: number): number {
  if (divisor === 0) throw new InvalidInput("Division by zero.");
  return divisor;
}

function unexpected(token: Token, wanted: string): InvalidInput {
  if (token.kind === "end")
    return new InvalidInput(`The expression ends too early, at position ${token.position + 1}: ${wanted}.`);
  return new InvalidInput(`Unexpected ${JSON.stringify(token.text)} at position ${token.position + 1}: ${wanted}.`);
}
