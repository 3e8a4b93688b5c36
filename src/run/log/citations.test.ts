import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Item } from "../../protocol/threads/items.ts";
import type { Source } from "../../protocol/knowledge/sources.ts";
import { citationsOf, holdsQuote } from "./citations.ts";

const page: Source = { kind: "web", title: "Herons", url: "https://example.org/herons", snippet: "Herons wade." };
const passage: Source = {
  kind: "document",
  title: "birds.pdf",
  documentId: "d",
  page: 3,
  snippet: "The grey heron stands – quite still – in **shallow** water,\nand waits.",
};
const other: Source = { kind: "document", title: "ships.md", documentId: "s", snippet: "A frigate carries sails." };
const result = (sources?: readonly Source[]) => ({ kind: "result", body: { content: "", sources } }) as unknown as Item;
const whole = async ({ documentId }: Source) =>
  documentId === "d" ? `Before. ${passage.snippet} It eats fish that come near.` : undefined;

describe("citations", () => {
  const cite = (text: string, lists: readonly (readonly Source[] | undefined)[] = [[passage, page]]) =>
    citationsOf(text, lists.map(result), whole);

  test("name the source, its place and where the mark stands", async () => {
    const text =
      "It stands in water [1]. They wade [1, 2], others not [9], see [1](https://x) and `list[1]`.\n```\na[2]\n```";
    const citations = await cite(text);
    assert.deepEqual(
      citations.map(({ number, start, end, source }) => [number, text.slice(start, end), source.title]),
      [
        [1, "[1]", "birds.pdf"],
        [1, "[1, 2]", "birds.pdf"],
        [2, "[1, 2]", "Herons"],
      ],
    );
    assert.deepEqual(citations[0], {
      source: { kind: "document", title: "birds.pdf", documentId: "d", page: 3 },
      number: 1,
      start: 19,
      end: 22,
    });
    assert.deepEqual(await cite("No results [1].", [undefined]), []);
  });

  test("a quotation is found in what was shown, else in all of the document; one that is not there is flagged", async () => {
    const found = async (text: string) => (await cite(text))[0]?.found;
    assert.equal(await found('As it says: "stands - quite still - in shallow water, and waits." [1]'), true);
    assert.equal(await found("„The GREY heron … in shallow water“ [1]"), true);
    assert.equal(await found("“It eats fish that come near” [1]."), true, "elsewhere in the document");
    assert.equal(await found("“It eats nothing but frogs” [1]."), false);
    assert.equal(await found("“in shallow water … The grey heron” [1]."), false, "in another order");
    assert.equal(await found("the “heron” stands [1]"), undefined, "too short to be one");
    assert.equal(
      await found("“The grey heron stands”, says somebody. It is so [1]."),
      undefined,
      "not before the mark",
    );
    const [citation] = await cite("“It eats nothing but frogs” [1].");
    assert.equal(citation!.quote, "It eats nothing but frogs");
  });

  test("of several results with the same numbers it is the one with the quotation, else the last", async () => {
    const lists = [[passage], [other]];
    assert.equal((await cite("So it is [1].", lists))[0]!.source.title, "ships.md");
    assert.equal((await cite("“grey heron stands” [1].", lists))[0]!.source.title, "birds.pdf");
    assert.equal((await cite("“A frigate carries sails” [1].", lists))[0]!.source.title, "ships.md");
  });

  test("are bounded, in number and in time", async () => {
    assert.equal((await cite("[1]".repeat(10_000))).length, 100);
    const begun = process.cpuUsage();
    await cite(`${'"'.repeat(50_000)}${"[1]".repeat(200)}${"a".repeat(500_000)}`);
    assert.ok(process.cpuUsage(begun).user < 5_000_000);
    assert.ok(!holdsQuote("a".repeat(100_000), "b"));
    const sources = Array.from({ length: 9 }, (_, at): Source => ({
      kind: "document",
      title: "x",
      documentId: `${at}`,
    }));
    const read: string[] = [];
    const text = `“is nowhere in any of them” [1,2,3,4,5,6,7,8,9]. `.repeat(5);
    await citationsOf(text, [result(sources)], async ({ documentId }) => {
      read.push(documentId!);
      return "A text.";
    });
    assert.deepEqual(read, ["0", "1", "2", "3", "4"]);
  });

  test("leave out by dots only what lies between parts that say something", async () => {
    const warning = "The pump is not safe. Do not open it under pressure";
    assert.ok(!holdsQuote(warning, "The ... pressure"));
    assert.ok(!holdsQuote("abc", "............"));
    assert.ok(!holdsQuote("abc", "… … …"));
    assert.ok(holdsQuote(warning, "The pump is not … open it under pressure."));
    assert.ok(holdsQuote(warning, "… Do not open it under …"));
    const parts = (gap: number) => `It wades in water ${"x".repeat(gap)} and waits for fish`;
    const quote = "wades in water [...] waits for fish";
    assert.ok(holdsQuote(parts(1500), quote));
    assert.ok(!holdsQuote(parts(2500), quote));
    assert.ok(holdsQuote(`wades in water ${parts(2500)} ${parts(500)}`, quote), "not of the first place alone");
    const long = `${"All of it, and more. ".repeat(30_000)}It ends with a heron.`;
    const [citation] = await citationsOf("“and more. It ends with a heron” [1]", [result([passage])], async () => long);
    assert.equal(citation!.found, true);
  });
});
