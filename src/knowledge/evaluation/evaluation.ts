import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import { collectionSettingsSchema, type RetrievalMode } from "../../protocol/knowledge/chunks.ts";
import { bootstrap, type Interval, ndcg, type RankedGains, recall } from "./measures.ts";

const aboutSchema = z.strictObject({
  description: z.string().optional(),
  licence: z.string().optional(),
  /** Settings of the collection that is created for the evaluation. */
  settings: collectionSettingsSchema.partial().optional(),
});

const questionSchema = z.strictObject({
  id: z.string().min(1).optional(),
  question: z.string().min(1).max(4000),
  /** Passages with the answer: a document, and words that stand in it; without them any place in it will do. */
  expected: z.array(z.strictObject({ document: z.string().min(1), quote: z.string().min(1).optional() })).min(1),
});
export type EvaluationQuestion = z.infer<typeof questionSchema>;

export type Evaluation = {
  readonly about: z.infer<typeof aboutSchema>;
  readonly questions: readonly EvaluationQuestion[];
  /** Names of files in `documents`; none: the collection has them already. */
  readonly documents: readonly string[];
};

/** A folder with `questions.jsonl`, and perhaps `documents/` and `eval.json`. Throws InvalidInput for the first thing that is wrong. */
export async function readEvaluation(folder: string): Promise<Evaluation> {
  const read = async (name: string) => readFile(join(folder, name), "utf8").catch(() => undefined);
  const about = aboutSchema.safeParse(parsed((await read("eval.json")) ?? "{}", `${folder}/eval.json`));
  if (!about.success) throw new InvalidInput(`${folder}/eval.json: ${z.prettifyError(about.error)}`);
  const lines = await read("questions.jsonl");
  if (lines === undefined) throw new InvalidInput(`${folder} has no questions.jsonl.`);
  const questions = lines.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    const place = `${folder}/questions.jsonl:${at + 1}`;
    const question = questionSchema.safeParse(parsed(line, place));
    if (!question.success) throw new InvalidInput(`${place}: ${z.prettifyError(question.error)}`);
    return [question.data];
  });
  if (questions.length === 0) throw new InvalidInput(`${folder}/questions.jsonl has no questions.`);
  const documents = await readdir(join(folder, "documents")).catch(() => []);
  return { about: about.data, questions, documents: documents.filter((name) => !name.startsWith(".")).toSorted() };
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidInput(`${place}: ${messageOf(error)}`, { cause: error });
  }
}

/** A place in a document's text; without an end all of it. */
export type ExpectedPassage = { readonly documentId: string; readonly from: number; readonly to: number };
export type PassageLocation = { readonly documentId: string; readonly charStart: number; readonly charEnd: number };

/** Where a question's passages are. Throws InvalidInput for words that do not stand in the document. */
export function wantedOf(
  { question, expected }: EvaluationQuestion,
  documents: ReadonlyMap<string, { readonly id: string; readonly text: string }>,
): readonly ExpectedPassage[] {
  return expected.map(({ document: name, quote }) => {
    const document = documents.get(name);
    if (!document) throw new InvalidInput(`“${question}” expects ${name}, which the collection does not have.`);
    if (quote === undefined) return { documentId: document.id, from: 0, to: Infinity };
    const from = document.text.indexOf(quote);
    if (from < 0) throw new InvalidInput(`“${question}” expects “${quote}”, which does not stand in ${name}.`);
    return { documentId: document.id, from, to: from + quote.length };
  });
}

/** A passage is found by the first chunk that has at least half of it. */
export function rankingOf(wanted: readonly ExpectedPassage[], found: readonly PassageLocation[]): RankedGains {
  const open = new Set(wanted);
  const gains = found.map(({ documentId, charStart, charEnd }) => {
    let gain = 0;
    for (const passage of open) {
      const shared = Math.min(charEnd, passage.to) - Math.max(charStart, passage.from);
      const needed = passage.to === Infinity ? 1 : (passage.to - passage.from) / 2;
      if (documentId !== passage.documentId || shared < needed) continue;
      open.delete(passage);
      gain++;
    }
    return gain;
  });
  return { gains, wanted: wanted.length };
}

const measures = {
  "nDCG@10": (ranking: RankedGains) => ndcg(ranking, 10),
  "recall@10": (ranking: RankedGains) => recall(ranking, 10),
  "recall@100": (ranking: RankedGains) => recall(ranking, 100),
};
type MeasureIntervals = Readonly<Record<keyof typeof measures, Interval>>;

export type EvaluationRow = MeasureIntervals & {
  readonly retrieval: RetrievalMode;
  /** nDCG@10 more than by words alone, question by question. */
  readonly gain?: Interval;
};

/** Returns, for each way to search, the mean over all questions and its uncertainty. */
export function evaluationRows(rankings: ReadonlyMap<RetrievalMode, readonly RankedGains[]>): readonly EvaluationRow[] {
  const words = rankings.get("lexical")?.map(measures["nDCG@10"]);
  return [...rankings].map(([retrieval, ranked]) => {
    const row = Object.fromEntries(
      Object.entries(measures).map(([name, measure]) => [name, bootstrap(ranked.map(measure))]),
    ) as MeasureIntervals;
    if (retrieval === "lexical" || !words) return { retrieval, ...row };
    return { retrieval, ...row, gain: bootstrap(ranked.map((each, at) => measures["nDCG@10"](each) - words[at]!)) };
  });
}
