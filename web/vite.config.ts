import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lingui } from "@lingui/vite-plugin";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;

/** What the first view needs comes in few files: over a slow line each one more costs a round trip. */
const firstLoad = [
  // The page that stands in for the server consists of these alone, and what draws of what loads its parts.
  {
    name: "base",
    test: /[\\/]web[\\/]browser[\\/](language|stored-choice|theme)\.ts$|preload-helper|rolldown.runtime|[\\/]@lingui[\\/]/,
    priority: 2,
  },
  // A script of its own, before the one that is a hundred times as long: the words of the language are asked for meanwhile.
  { name: "words", test: /[\\/]web[\\/]words[\\/]words\.ts$/, priority: 1 },
  { name: "page", tags: ["$initial" as const], test: (id: string) => !/offline|drawing/.test(id) },
];

export default defineConfig({
  root,
  // Below whatever path the server stands; index.html names it.
  base: "./",
  plugins: [words(), react(), tailwind(), serviceWorker(), firstPaint()],
  logLevel: "warn",
  resolve: {
    alias: {
      // What the macros of a text import: it is there once the words of the chosen language are.
      "#words": join(root, "words/words.ts"),
      // Of a formula that is none. For browsers it has the document parse it, and what styles stand in it the page's policy refuses.
      "hast-util-from-html-isomorphic": fileURLToPath(import.meta.resolve("hast-util-from-html-isomorphic")),
    },
  },
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Told by the page's own test, in what really goes over the wire.
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: ["index.html", "offline.html", "drawing.html"].map((name) => join(root, name)),
      output: { codeSplitting: { groups: firstLoad } },
    },
  },
});

/** Emits service-worker.js with the names of what offline.html is made of; what is kept of the page is kept for one build. */
function serviceWorker(): Plugin {
  return {
    name: "service-worker",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = new Set<string>();
      const add = (name: string) => {
        const chunk = bundle[name];
        if (parts.has(name) || chunk?.type !== "chunk") return;
        parts.add(name);
        for (const style of chunk.viteMetadata?.importedCss ?? []) parts.add(style);
        for (const imported of chunk.imports) add(imported);
      };
      for (const [name, chunk] of Object.entries(bundle))
        if (chunk.type === "chunk" && chunk.isEntry && chunk.name === "offline") add(name);
      const names = JSON.stringify([...parts].sort());
      const version = createHash("sha256").update(Object.keys(bundle).sort().join()).digest("hex").slice(0, 16);
      const source = readFileSync(join(root, "service-worker.js"), "utf8")
        .replace("const parts = [];", `const parts = ${names};`)
        .replace('const version = "";', `const version = "${version}";`);
      this.emitFile({ type: "asset", fileName: "sw.js", source });
    },
  };
}

/** Texts become calls that name them; a language's words are compiled from what translators write. */
function words(): Plugin[] {
  const configPath = join(root, "lingui.config.ts");
  return lingui({ configPath, macroTransform: true, failOnCompileError: true }) as Plugin[];
}

/** Before its scripts and styles are there the page shows its name: styles stand behind that, since what stands in the head is waited for. */
function firstPaint(): Plugin {
  return {
    name: "first-paint",
    enforce: "post",
    transformIndexHtml: {
      order: "post",
      handler(html, { path }) {
        if (path !== "/index.html") return undefined;
        const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? [];
        return styles
          .reduce((rest, style) => rest.replace(style, ""), html)
          .replace("  </body>", `${styles.join("")}  </body>`);
      },
    },
  };
}
