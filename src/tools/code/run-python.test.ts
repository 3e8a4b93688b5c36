import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { openTestPlace, type TestPlace } from "../../../test/code-place.ts";
import { filesOf } from "../../protocol/threads/files.ts";
import type { ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { createPythonSource } from "../../sandbox/python-source.ts";
import { runPythonTool } from "./run-python.ts";

const opened = await openTestPlace();

suite("run_python", { skip: opened ? false : "no bubblewrap" }, () => {
  const place = opened ?? ({} as TestPlace);
  const { context, close } = place;
  after(close);
  const python = (code: string, at: ToolContext = context()): Promise<ToolResult> =>
    runPythonTool(place).execute({ code }, at);

  test("reports the variables that the code left, what it printed and its last value", async () => {
    const code =
      "import math\nx = 5\n_hidden = 1\ndef area(r):\n    return math.pi * r ** 2\nprint('hi')\nround(area(x), 2)";
    const result = await python(code);
    assert.equal(result.content, "EXEC_OK: {'x': 5, 'area': <function area>}\nValue: 78.54\nOutput:\nhi");
    assert.equal(result.isError, undefined);
    const { variables, value, stdout, exitCode } = result.data as Record<string, unknown>;
    assert.deepEqual(variables, { x: "5", area: "<function area>" });
    assert.deepEqual({ value, stdout, exitCode }, { value: "78.54", stdout: "hi\n", exitCode: 0 });
    assert.equal((await python("pass")).content, "EXEC_OK: {}");
  });

  test("an error is told with the lines of the code that was given, and nothing of what runs it", async () => {
    const result = await python("def half(n):\n    return n / 0\n\nprint('before')\nhalf(3)");
    assert.equal(result.isError, true);
    assert.match(result.content, /^EXEC_ERROR: ZeroDivisionError: division by zero\n/);
    assert.match(result.content, /File "<code>", line 5, in <module>\n {4}half\(3\)/);
    assert.match(result.content, /File "<code>", line 2, in half\n {4}return n \/ 0/);
    assert.match(result.content, /Output:\nbefore$/);
    assert.equal(result.content.match(/File /g)!.length, 2);
    assert.match((await python("x = (1,\ny = 2")).content, /^EXEC_ERROR: SyntaxError: .*\nFile "<code>", line 1\n/);
    assert.match(
      (await python("import nowhere")).content,
      /^EXEC_ERROR: ModuleNotFoundError: No module named 'nowhere'/,
    );
  });

  test("however it ends, that is told", async () => {
    assert.match((await python("raise SystemExit")).content, /^EXEC_OK: \{\}$/);
    assert.match((await python("import sys\nsys.exit('no more')")).content, /^EXEC_ERROR: SystemExit: no more/);
    assert.match((await python("import os\nos._exit(7)")).content, /^EXEC_ERROR: Python ended with exit code 7$/);
    assert.match((await python("import ctypes\nctypes.string_at(0)")).content, /^EXEC_ERROR: .* exit code 139/);
    assert.match((await python("import os\nos.chdir('/tmp')\nx = 1")).content, /^EXEC_OK: \{'x': 1\}$/);
    assert.match((await python("input('Name? ')")).content, /^EXEC_ERROR: EOFError.*Output:\nName\?$/s);
    const soon = runPythonTool({ ...place, limits: { ...place.limits, timeoutMs: 3000 } });
    const slow = await soon.execute({ code: "import time\nprint('begun')\ntime.sleep(99)" }, context());
    assert.match(slow.content, /^EXEC_ERROR: \[ERROR: Command timed out after 3s\]\nOutput:\nbegun$/);
  });

  test("what is large or hostile does no harm", async () => {
    const hostile = [
      "class Endless:\n    def __repr__(self):\n        while True: pass",
      "class Leaves:\n    def __repr__(self): raise SystemExit",
      "class Lies:\n    def __repr__(self): return 'x' * 10**8",
      "a, b, c = Endless(), Leaves(), Lies()",
      "big = list(range(10**6)); text = 'y' * 10**7; deep = []",
      "for i in range(10**4): deep = [deep]",
      "loop = []; loop.append(loop)",
      "globals().update({f'v{i}': i for i in range(1000)})",
      "big",
    ];
    const { content, isError, data } = await python(hostile.join("\n"));
    assert.equal(isError, undefined, content.slice(0, 500));
    assert.match(content, /'a': <Endless that can't be shown>, 'b': <Leaves that can't be shown>/);
    assert.ok(content.length < 15_000, `${content.length} characters`);
    assert.equal(Object.keys((data as { variables: object }).variables).length, 50);
  });

  test("what the code leaves in place of the runner's own notes is read as text, or not at all", async () => {
    const forge = (text: string) =>
      `import atexit, glob\n@atexit.register\ndef _():\n    for n in glob.glob('.colloquy/python-*'): open(n, 'w').write(${JSON.stringify(text)})`;
    for (const text of ["nonsense", "[]", '{"variables": {"x": 1}}', '{"value": {}}', "x".repeat(10 ** 6)])
      assert.match((await python(forge(text))).content, /^EXEC_OK: \{\}$/);
  });

  test("files stay, variables do not; modules of the workspace can be imported and take no one's place", async () => {
    const at = context();
    const made = await python(
      "open('tools.py', 'w').write('answer = 42')\nopen('json.py', 'w').write('1/0')\nx = 1",
      at,
    );
    assert.deepEqual(
      filesOf(made.data).map(({ path, change }) => [path, change]),
      [
        ["json.py", "made"],
        ["tools.py", "made"],
      ],
    );
    assert.match((await python("import tools\nprint(tools.answer, 'x' in globals())", at)).content, /42 False$/);
  });

  test("charts that are left open are saved and reported", async (t) => {
    if ((await python("import matplotlib")).isError) return t.skip("matplotlib is not installed");
    const at = context();
    const plot =
      "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('a')\nplt.figure()\nplt.bar([1], [2])\nplt.show()";
    const { data, content } = await python(plot, at);
    assert.deepEqual(
      filesOf(data).map(({ path, mediaType }) => [path, mediaType]),
      [
        ["figure-1.png", "image/png"],
        ["figure-2.png", "image/png"],
      ],
      content,
    );
    assert.deepEqual(
      filesOf((await python("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('own.png')", at)).data).map(
        ({ path }) => path,
      ),
      ["own.png"],
    );
  });

  test("without Python it says what to install", async () => {
    const python = createPythonSource(place.sandbox, { searchPath: "/nowhere" });
    const without = runPythonTool({ ...place, python });
    const refusal = /Python is not available: python3\S* is not installed.*sandbox\.python/;
    await assert.rejects(without.execute({ code: "1" }, context()), refusal);
  });

  test("the description says which Python there is, as soon as that is known", async () => {
    const python = createPythonSource(place.sandbox, { searchPath: "/usr/bin" });
    const tool = runPythonTool({ ...place, python });
    assert.match(tool.description, /Network access is disabled\.$/);
    await python.state();
    assert.match(
      tool.description,
      /Network access is disabled\. Python 3\.\d+\.\d+(, without further packages| with .*)\.$/,
    );
  });
});
