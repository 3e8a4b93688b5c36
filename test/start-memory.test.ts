import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const module = pathToFileURL(join(import.meta.dirname, "..", "scripts", "memory.mjs")).href;
const folder = mkdtempSync(join(tmpdir(), "colloquy-memory-"));
after(() => rmSync(folder, { recursive: true }));

type Machine = { readonly proc: string; readonly groups: string };

/** What scripts/memory.mjs says of a start there; null if nothing. */
function said({ proc, groups }: Machine, isFirst = true): unknown {
  const code = `import { tooLittleMemory } from ${JSON.stringify(module)};
    console.log(JSON.stringify(tooLittleMemory(${JSON.stringify({ proc, groups, isFirst })}) ?? null));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
}

/** /proc and /sys/fs/cgroup of a machine with 700 MB left. */
function machine(name: string, files: Readonly<Record<string, string>>): Machine {
  const all = { "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable:     512000 kB\nSwapFree: 204800 kB\n", ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name, file)), { recursive: true });
    writeFileSync(join(folder, name, file), text);
  }
  return { proc: join(folder, name, "proc"), groups: join(folder, name, "cgroup") };
}

const mb = (count: number) => `${count * 1024 * 1024}\n`;

test("a start that may not have enough memory is told how much it wants; swap counts", () => {
  const plain = machine("plain", {});
  assert.match(String(said(plain)), /^Colloquy's first start needs about 800 MB .* 700 MB are available/);
  assert.equal(said(plain, false), null);
  const small = machine("small", { "proc/meminfo": "MemAvailable: 512000 kB\n" });
  assert.match(String(said(small, false)), /^Colloquy needs about 550 MB .* 500 MB are available/);
  assert.equal(said({ proc: join(folder, "no-linux"), groups: folder }), null);
});

test("available memory: a version 2 group bounds it, and one above it", () => {
  const files = {
    "proc/self/cgroup": "0::/service/part\n",
    "cgroup/service/memory.max": mb(900),
    "cgroup/service/memory.current": mb(300),
    "cgroup/service/memory.stat": `anon 5\ninactive_file ${mb(100)}`,
    "cgroup/service/part/memory.max": "max\n",
    "cgroup/service/part/memory.current": mb(1),
  };
  assert.match(String(said(machine("v2", files))), / 700 MB are available/);
});

test("available memory: a version 1 group bounds it, also where the container's path is not there", () => {
  const files = {
    "proc/self/cgroup": "5:cpu:/\n4:memory:/docker/abc\n0::/\n",
    "cgroup/memory/memory.limit_in_bytes": mb(512),
    "cgroup/memory/memory.usage_in_bytes": mb(12),
  };
  assert.match(String(said(machine("v1", files))), / 500 MB are available/);
});
