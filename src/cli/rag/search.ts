import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CollectionView } from "../../protocol/knowledge/collections.ts";
import type { KnowledgeClient } from "../../client/knowledge.ts";
import {
  type Evaluation,
  evaluationRows,
  type EvaluationRow,
  rankingOf,
  readEvaluation,
  wantedOf,
} from "../../knowledge/evaluation/evaluation.ts";
import type { Interval, RankedGains } from "../../knowledge/evaluation/measures.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { type RetrievalMode, retrievals } from "../../protocol/knowledge/chunks.ts";

/** What is evaluated where no folder is named. */
const shippedSet = join(import.meta.dirname, "../../knowledge/evaluation/set");
const pollMs = 200;

export type QueryOptions = {
  readonly json: boolean;
  readonly retrieval?: string | undefined;
  readonly limit?: string | undefined;
};

/** Tries a question: the passages, and how each was found. */
export async function tryQuery(
  knowledge: KnowledgeClient,
  [collection, ...words]: readonly string[],
  { json, retrieval, limit }: QueryOptions,
): Promise<number> {
  const { passages, trace } = await knowledge.query({
    question: words.join(" "),
    collections: [collection!],
    ...(retrieval !== undefined && { retrieval: checkedRetrieval(retrieval) }),
    ...(limit !== undefined && { limit: checkedLimit(limit) }),
  });
  if (json) {
    console.log(JSON.stringify({ passages, trace }));
    return passages.length > 0 ? 0 : 1;
  }
  for (const [at, passage] of passages.entries()) {
    const { documentName, page, headingPath, lexical, vector, relevance, text } = passage;
    const place = [documentName, ...(page === null ? [] : [`page ${page}`]), ...headingPath].join(", ");
    const found = [
      ...(lexical ? [`words: ${lexical.rank} (${lexical.score.toFixed(2)})`] : []),
      ...(vector ? [`meaning: ${vector.rank} (${vector.similarity.toFixed(3)})`] : []),
      ...(relevance === undefined ? [] : [`relevance: ${relevance.toFixed(3)}`]),
    ].join(", ");
    console.log(`[${at + 1}] ${place}\n    ${found}\n${text.replaceAll(/^/gm, "    ")}\n`);
  }
  const cuts = Map.groupBy(trace.candidates, ({ cut }) => cut ?? "taken");
  const counts = [...cuts].map(([cut, { length }]) => `${length} ${cut}`).join(", ");
  console.error(
    `${trace.candidates.length} candidates (${counts || "none"}) by ${[...trace.lexical, ...trace.vector].join(", ")}`,
  );
  for (const { name, indexing } of trace.collections)
    if (indexing !== undefined) console.error(`${name}: indexing ${indexing}%`);
  for (const note of trace.notes) console.error(note);
  return passages.length > 0 ? 0 : 1;
}

export type EvalOptions = {
  readonly json: boolean;
  /** A collection that has the documents already. */
  readonly collection?: string | undefined;
  /** Of the collection that is made otherwise. */
  readonly model?: string | undefined;
};

/** How well questions find the passages that they should: words, meaning, and both. */
export async function evaluate(
  knowledge: KnowledgeClient,
  [folder = shippedSet]: readonly string[],
  { json, collection: name, model }: EvalOptions,
): Promise<number> {
  const evaluation = await readEvaluation(folder);
  const { collection, same } =
    name === undefined
      ? await filled(knowledge, evaluation, { folder, model })
      : { collection: await existing(knowledge, name), same: new Map<string, string>() };
  try {
    const questions = evaluation.questions.map((question) => ({
      ...question,
      expected: question.expected.map((each) => ({ ...each, document: same.get(each.document) ?? each.document })),
    }));
    const rankings = await ranked(knowledge, { ...evaluation, questions }, collection);
    const rows = evaluationRows(rankings);
    if (json)
      console.log(
        JSON.stringify({ questions: evaluation.questions.length, embeddingModel: collection.embeddingModel, rows }),
      );
    else for (const line of tableOf(rows, evaluation.questions.length)) console.log(line);
    return 0;
  } finally {
    if (name === undefined) await knowledge.removeCollection(collection.id);
  }
}

async function existing(knowledge: KnowledgeClient, name: string): Promise<CollectionView> {
  const found = (await knowledge.collections()).find((each) => each.name === name || each.id === name);
  if (!found)
    throw new InvalidInput(`Collection ${name} not found. Run \`./colloquy rag list\` to see all collections.`);
  return found;
}

/** A collection of its own, for as long as it takes; of files that are `same` there is one, under the name that this says. */
async function filled(
  knowledge: KnowledgeClient,
  { about, documents }: Evaluation,
  { folder, model }: { readonly folder: string; readonly model: string | undefined },
): Promise<{ readonly collection: CollectionView; readonly same: ReadonlyMap<string, string> }> {
  if (documents.length === 0)
    throw new InvalidInput(`${folder} has no documents. Name a collection that has them with --collection.`);
  const { id } = await knowledge.create({
    name: `eval-${newId()}`,
    description: about.description ?? "",
    ...(about.settings && { settings: about.settings }),
    ...(model !== undefined && { embeddingModel: model }),
  });
  try {
    const same = new Map<string, string>();
    for (const name of documents) {
      const bytes = new Uint8Array(await readFile(join(folder, "documents", name)));
      const { document } = await knowledge.addFile(id, { name, bytes });
      if (document.name !== name) same.set(name, document.name);
    }
    for (;;) {
      const collection = await knowledge.collection(id);
      if (collection.counts.ready === documents.length - same.size) return { collection, same };
      for (const { name, error } of await knowledge.documents(id, { limit: 500 }))
        if (error !== null) throw new InvalidInput(`${name} can't be read: ${error}`);
      await sleep(pollMs);
    }
  } catch (error) {
    await knowledge.removeCollection(id);
    throw error;
  }
}

async function ranked(
  knowledge: KnowledgeClient,
  { questions }: Evaluation,
  { id, embeddingModel }: CollectionView,
): Promise<ReadonlyMap<RetrievalMode, readonly RankedGains[]>> {
  const names = new Set(questions.flatMap(({ expected }) => expected.map(({ document }) => document)));
  const documents = new Map<string, { readonly id: string; readonly text: string }>();
  for (let after: string | undefined; ;) {
    const page = await knowledge.documents(id, { limit: 500, ...(after !== undefined && { after }) });
    for (const document of page)
      if (names.has(document.name))
        documents.set(document.name, { id: document.id, text: await knowledge.text(document.id) });
    after = page.at(-1)?.name;
    if (after === undefined) break;
  }
  const wanted = questions.map((question) => wantedOf(question, documents));
  const rankings = new Map<RetrievalMode, RankedGains[]>();
  for (const retrieval of embeddingModel === "none" ? (["lexical"] as const) : retrievals) {
    const ranks: RankedGains[] = [];
    for (const [at, { question }] of questions.entries()) {
      const { trace } = await knowledge.query({ question, collections: [id], retrieval, limit: 50, tokens: 100_000 });
      if (trace.notes.length > 0) throw new InvalidInput(trace.notes.join(" "));
      ranks.push(rankingOf(wanted[at]!, trace.candidates));
    }
    rankings.set(retrieval, ranks);
  }
  return rankings;
}

function tableOf(rows: readonly EvaluationRow[], questions: number): string[] {
  const cells = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(8) : cell.padStart(22))).join("");
  const hasGain = rows.some(({ gain }) => gain);
  return [
    `${questions} questions; 95% confidence intervals in brackets`,
    cells(["", "nDCG@10", "recall@10", "recall@100", ...(hasGain ? ["nDCG@10 over words"] : [])]),
    ...rows.map(({ retrieval, gain, ...row }) =>
      cells([
        retrieval,
        ...[row["nDCG@10"], row["recall@10"], row["recall@100"]].map(shown),
        ...(gain ? [shown(gain)] : []),
      ]),
    ),
  ];
}

function shown({ mean, low, high }: Interval): string {
  return `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
}

function checkedRetrieval(text: string): RetrievalMode {
  const found = retrievals.find((each) => each === text);
  if (!found) throw new InvalidInput(`--retrieval must be one of ${retrievals.join(", ")}.`);
  return found;
}

function checkedLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 50)
    throw new InvalidInput("--limit must be a number from 1 to 50.");
  return limit;
}
