import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pdfOf } from "../../test/office-files.ts";
import { inRounds, type Part } from "../part.ts";

const words =
  "the grey heron stands in shallow water of a river and waits for fish while others fly over the reeds".split(" ");
const linesOfPage = 45;

/** A PDF is kept, read in a process apart, cut, and stored to be searched, against its text alone by the bare library. */
export const ingestion: Part = {
  name: "ingestion",
  async run({ rounds, quick, log }) {
    const pages = quick ? 20 : 300;
    const folder = await mkdtemp(join(tmpdir(), "colloquy-bench-pdf-"));
    try {
      const files = [join(folder, "small.pdf"), join(folder, "bench.pdf")];
      for (const [index, count] of [10, pages].entries()) {
        const texts = Array.from({ length: count }, (_, page) => pageText(page));
        await writeFile(files[index]!, pdfOf(texts, { typeset: true }));
      }
      const measured = await inRounds(rounds, ["bare", "whole"], async (way) => {
        const worker = join(import.meta.dirname, "../ingest-worker.ts");
        const flags = ["--disable-warning=ExperimentalWarning", worker, way, ...files];
        const { stdout } = await promisify(execFile)(process.execPath, flags);
        const answer = JSON.parse(stdout) as { readonly seconds: number; readonly pages: number };
        if (answer.pages !== pages) throw new Error(`${way} read ${answer.pages} of ${pages} pages`);
        return (answer.seconds / pages) * 1000;
      });
      log(`${(1000 / measured.whole[0]!).toFixed(0)} pages of PDF per second of CPU`);
      return [
        {
          part: "ingestion",
          name: `CPU per page of a PDF of ${pages} pages, from the file to what is searched, against its text by unpdf alone`,
          unit: "ms",
          values: measured.whole,
          reference: measured.bare,
          bar: { kind: "ratio", max: 1.5 },
        },
      ];
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

function pageText(page: number): string {
  const line = (number: number) =>
    Array.from({ length: 13 }, (_, word) => words[(page * 31 + number * 7 + word * 3) % words.length]).join(" ");
  return Array.from({ length: linesOfPage }, (_, number) => `${line(number)}.`).join("\n");
}
