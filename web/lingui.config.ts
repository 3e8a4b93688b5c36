import { formatter } from "@lingui/format-po";
import { createSwcExtractor } from "@lingui/native-tools";

/** Parts of the page that are loaded alone, with their folders: each has a catalogue of its own in each language. */
const parts = {
  admin: ["admin"],
  knowledge: ["knowledge"],
  rooms: ["rooms"],
  runs: ["runs", "run-list"],
  schedules: ["schedules"],
  settings: ["settings"],
  taiga: ["taiga"],
  tasks: ["tasks"],
};
const offline = "<rootDir>/shell/offline.ts";

/**
 * The words of the page: English stands where it is said, `lingui extract` writes the catalogues in words/.
 * Paths are absolute, since others count from where the command runs.
 */
export default {
  sourceLocale: "en",
  locales: ["en", "de", "es", "fr", "pt", "ar", "ja", "zh"],
  // Where others lack a text.
  fallbackLocales: { default: "en" },
  catalogs: [
    ...Object.entries(parts).map(([part, folders]) => ({
      path: `<rootDir>/words/{locale}/${part}`,
      include: folders.map((folder) => `<rootDir>/${folder}`),
    })),
    {
      path: "<rootDir>/words/{locale}/first",
      include: ["<rootDir>"],
      exclude: [
        ...Object.values(parts).flatMap((folders) => folders.map((folder) => `<rootDir>/${folder}/**`)),
        offline,
      ],
    },
    { path: "<rootDir>/words/{locale}/offline", include: [offline] },
  ],
  // Not where each is said: that would change with every line of the source.
  format: formatter({ origins: false }),
  extractors: [createSwcExtractor()],
  runtimeConfigModule: ["#words", "i18n"],
};
