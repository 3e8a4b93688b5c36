import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { startChild } from "../child.ts";
import { inRounds, type Part } from "../part.ts";

const root = new URL("../../", import.meta.url);

/** What a module imports from packages, by itself or through what it imports; types and what is loaded later left out. */
async function packagesOf(entry: URL): Promise<string[]> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const files = [entry];
  for (let file = files.pop(); file; file = files.pop()) {
    if (seen.has(file.href)) continue;
    seen.add(file.href);
    const text = await readFile(file, "utf8");
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)";$/gm)) {
      if (specifier.startsWith(".")) files.push(new URL(specifier, file));
      else if (!isBuiltin(specifier)) found.add(specifier);
    }
  }
  return [...found].sort();
}

async function importCpuMs(specifiers: readonly string[]): Promise<number> {
  const child = await startChild("import-cost.ts", { args: specifiers });
  try {
    return await child.call<number>("cpuMs");
  } finally {
    await child.stop();
  }
}

/** What loading the server costs over loading the packages it stands on. */
export const imports: Part = {
  name: "import",
  async run(bench) {
    bench.log("import: the server and its packages");
    const main = new URL("src/main.ts", root);
    const specifiers = { product: [main.href], packages: await packagesOf(main) };
    const importAll = (subject: keyof typeof specifiers): Promise<number> => importCpuMs(specifiers[subject]);
    // The first import fills the compile cache.
    await importAll("product");
    await importAll("packages");
    const values = await inRounds(bench.rounds, ["packages", "product"] as const, (subject) =>
      importCpuMs(specifiers[subject]),
    );
    return [
      {
        part: "import",
        name: `CPU of importing the server, against its ${specifiers.packages.length} packages alone`,
        unit: "ms",
        values: values.product,
        reference: values.packages,
        bar: { kind: "ratio", max: 1.3 },
      },
    ];
  },
};
