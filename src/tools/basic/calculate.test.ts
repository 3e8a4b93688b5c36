import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate, formatNumber } from "./calculate.ts";

const answer = (expression: string): string => formatNumber(evaluate(expression));

test("operators bind as in mathematics", () => {
  const cases: Record<string, string> = {
    "1 + 2 * 3": "7",
    "(1 + 2) * 3": "9",
    "10 - 4 - 3": "3",
    "100 / 10 / 5": "2",
    "2 ^ 3 ^ 2": "512",
    "2 ** 3": "8",
    "-2 ^ 2": "-4",
    "(-2) ^ 2": "4",
    "2 ^ -1": "0.5",
    "2 ^ -1 * 3": "1.5",
    "2 * -3": "-6",
    "--2": "2",
    "5 - +3": "2",
    "17 % 5": "2",
    "2 + 17 % 5 * 3": "8",
    "6 × 7 ÷ 2 − 1": "20",
  };
  for (const [expression, expected] of Object.entries(cases)) assert.equal(answer(expression), expected, expression);
});

test("numbers, constants and functions", () => {
  const cases: Record<string, string> = {
    ".5 + 1.": "1.5",
    "1.5e3 + 2E-1": "1500.2",
    pi: "3.14159265359",
    "ln(e)": "1",
    "log(1000)": "3",
    "exp(0)": "1",
    "SQRT(16) + abs(-3)": "7",
    "round(2.5) + round(-2.5)": "0",
    "floor(-1.5) + ceil(1.2)": "0",
    "min(3, 1, 2) + max(4)": "5",
    "sin(pi / 6)": "0.5",
    "cos(0) + tan(0)": "1",
  };
  for (const [expression, expected] of Object.entries(cases)) assert.equal(answer(expression), expected, expression);
});

test("results are free of rounding noise", () => {
  assert.equal(answer("0.1 + 0.2"), "0.3");
  assert.equal(answer("0.1 + 0.2 - 0.3"), "0");
  assert.equal(answer("1.1 * 1.1 * 1.1"), "1.331");
  assert.equal(answer("-0"), "0");
  assert.equal(answer("9007199254740991 - 9007199254740990"), "1");
  assert.equal(answer("1 / 3"), "0.333333333333");
  assert.equal(answer("2 ^ 70"), "1.18059162072e+21");
});

test("errors say what is wrong and where", () => {
  const cases: Record<string, RegExp> = {
    "1 +": /The expression ends too early, at position 4: expected a number/,
    "2 3": /Unexpected "3" at position 3: expected an operator/,
    "2pi": /Unexpected "pi" at position 2/,
    "(1": /The expression ends too early, at position 3: expected \)/,
    "1)": /Unexpected "\)" at position 2/,
    "1 + $x": /Unexpected "\$" at position 5: not part of arithmetic/,
    "1,000": /Unexpected ","/,
    "sqrt 4": /Unexpected "4" at position 6: expected \(/,
    "sqrt(4, 2)": /Unexpected ","/,
    "max()": /Unexpected "\)" at position 5: expected a number/,
    "": /The expression ends too early, at position 1/,
    "1 / 10 ^ 400": /too large/,
    "exit(1)": /"exit" is unknown. Available: sqrt, abs/,
    "constructor(1)": /"constructor" is unknown/,
    "1 / 0": /Division by zero/,
    "5 % (1 - 1)": /Division by zero/,
    "sqrt(-1)": /not a real number/,
    "(-8) ^ 0.5": /not a real number/,
    "10 ^ 400": /too large/,
    ["1+".repeat(600)]: /longer than 1000/,
    ["(".repeat(900)]: /nested more than 100/,
    ["-".repeat(900) + "1"]: /nested more than 100/,
    ["2^".repeat(450) + "1"]: /nested more than 100/,
  };
  for (const [expression, expected] of Object.entries(cases)) {
    assert.throws(() => evaluate(expression), expected, expression);
  }
});

type ExpressionTree =
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "sign"; readonly of: ExpressionTree }
  | { readonly kind: "function"; readonly name: "abs" | "floor" | "ceil"; readonly of: ExpressionTree }
  | {
      readonly kind: "operation";
      readonly operator: string;
      readonly left: ExpressionTree;
      readonly right: ExpressionTree;
    };

/** The same numbers in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomTree(random: (below: number) => number, depth: number): ExpressionTree {
  const choice = depth === 0 ? 0 : random(10);
  if (choice < 2) return { kind: "number", text: ["0", "1", "2", "3", "7", "10", "0.5", "2.25"][random(8)] ?? "1" };
  if (choice === 2) return { kind: "sign", of: randomTree(random, depth - 1) };
  if (choice === 3) {
    const name = (["abs", "floor", "ceil"] as const)[random(3)] ?? "abs";
    return { kind: "function", name, of: randomTree(random, depth - 1) };
  }
  const operator = ["+", "-", "*", "/", "%", "^"][random(6)] ?? "+";
  return { kind: "operation", operator, left: randomTree(random, depth - 1), right: randomTree(random, depth - 1) };
}

const strength: Record<string, number> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4 };

function strengthOf(tree: ExpressionTree): number {
  if (tree.kind === "sign") return 3;
  return tree.kind === "operation" ? (strength[tree.operator] ?? 0) : 5;
}

/** With no more parentheses than precedence and associativity demand. */
function writeShort(tree: ExpressionTree): string {
  const inside = (part: ExpressionTree, least: number) =>
    strengthOf(part) >= least ? writeShort(part) : `(${writeShort(part)})`;
  switch (tree.kind) {
    case "number":
      return tree.text;
    case "sign":
      return `-${inside(tree.of, 3)}`;
    case "function":
      return `${tree.name}(${writeShort(tree.of)})`;
    case "operation": {
      const own = strengthOf(tree);
      const isPower = tree.operator === "^";
      const left = inside(tree.left, isPower ? own + 1 : own);
      // The right side of a power may be signed: 2^-1.
      const right = inside(tree.right, isPower ? 3 : own + 1);
      return `${left} ${tree.operator} ${right}`;
    }
  }
}

/** JavaScript with parentheses everywhere, in which `real` throws for what is no finite number. */
function writeReference(tree: ExpressionTree): string {
  switch (tree.kind) {
    case "number":
      return tree.text;
    case "sign":
      return `(-${writeReference(tree.of)})`;
    case "function":
      return `Math.${tree.name}(${writeReference(tree.of)})`;
    case "operation": {
      const operator = tree.operator === "^" ? "**" : tree.operator;
      return `real((${writeReference(tree.left)}) ${operator} (${writeReference(tree.right)}))`;
    }
  }
}

function real(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError("not finite");
  return value;
}

function valueOf(evaluation: () => unknown): unknown {
  try {
    return evaluation();
  } catch {
    return "no value";
  }
}

test("random expressions have the value that JavaScript gives them", () => {
  const random = createRandom(20_260_301);
  let compared = 0;
  for (let round = 0; round < 5_000; round++) {
    const tree = randomTree(random, 5);
    const expression = writeShort(tree);
    if (expression.length > 1_000) continue;
    const value = valueOf(() => evaluate(expression));
    const expected = valueOf(() => new Function("real", `return ${writeReference(tree)}`)(real));
    if (typeof value === "number" && typeof expected === "number") {
      const difference = Math.abs(value - expected);
      assert.ok(difference <= 1e-9 * Math.max(1, Math.abs(expected)), `${expression} = ${value}, not ${expected}`);
      compared++;
    } else {
      assert.equal(value, expected, expression);
    }
  }
  assert.ok(compared > 3_000, `only ${compared} expressions had a value`);
});
