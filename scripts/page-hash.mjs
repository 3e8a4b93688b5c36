import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Of what the web page is made of, and of what the one was that lies in `.cache/page`. Asked before each start by whatever
 * Node.js began it: a process of its own for it would cost more than the look.
 */
export function pageHashes(root) {
  const sources = [
    ...filesIn(root, "web"),
    ...filesIn(root, "src/client").filter((name) => name.endsWith(".ts")),
    ...filesIn(root, "src/protocol").filter((name) => name.endsWith(".ts")),
    ...["package-lock.json"].filter((name) => existsSync(join(root, name))),
  ];
  const hash = createHash("sha256");
  for (const name of sources.filter((name) => !name.includes(".test.")).sort())
    hash.update(name).update(readFileSync(join(root, name)));
  const built = join(root, ".cache", "page", "hash");
  return { wanted: hash.digest("hex"), built: existsSync(built) ? readFileSync(built, "utf8") : undefined };
}

function filesIn(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(root, name);
    return entry.isFile() ? [name] : [];
  });
}
