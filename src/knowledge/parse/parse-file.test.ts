import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { utils, write } from "@e965/xlsx";
import { docxOf, pdfOf, pptxOf, zipOf } from "../../../test/office-files.ts";
import { temporaryFolder } from "../../../test/pglite.ts";
import { parseFile, type ParseFileOptions } from "./parse-file.ts";
import type { ParsedFile } from "./parsed.ts";

const folder = temporaryFolder("parse");
let count = 0;

async function parse(
  name: string,
  data: string | Buffer,
  options: Partial<ParseFileOptions> = {},
): Promise<ParsedFile> {
  // The file's place says nothing of it, as with uploads.
  const path = join(folder, String(++count));
  await writeFile(path, data);
  const { signal } = new AbortController();
  return parseFile(path, { name, maxText: 100_000, whole: true, signal, ...options });
}

const textOf = ({ sections }: ParsedFile) => sections.map(({ text }) => text).join("\n");

test("a CSV file: its delimiter, headers, rows and a sample, with line breaks in quotes", async () => {
  const csv = 'id;name;amount\r\n1;"Müller; Sohn\nGmbH";3,5\r\n2;b;4\r\n\r\n';
  const { kind, metadata } = await parse("data.csv", csv);
  assert.equal(kind, "csv");
  assert.deepEqual(metadata, {
    delimiter: ";",
    headers: ["id", "name", "amount"],
    rows: 2,
    sample: [
      ["1", "Müller; Sohn\nGmbH", "3,5"],
      ["2", "b", "4"],
    ],
  });
  const latin = await parse("old.csv", Buffer.from("größe,straße,maß,übel\n1,2,3,4\n", "latin1"));
  assert.deepEqual(latin.metadata["headers"], ["größe", "straße", "maß", "übel"]);
});

test("a workbook: sheets with headers, row counts and samples; all rows if it is read whole", async () => {
  const book = utils.book_new();
  const rows = Array.from({ length: 450 }, (_, at) => [`C${at}`, at * 1.5]);
  utils.book_append_sheet(book, utils.aoa_to_sheet([["customer", "amount"], ...rows]), "Sales");
  const bytes = write(book, { type: "buffer", bookType: "xlsx" }) as Buffer;
  const glance = await parse("sales.xlsx", bytes, { whole: false });
  assert.deepEqual(glance.metadata, {
    sheets: [
      {
        name: "Sales",
        headers: ["customer", "amount"],
        rows: 450,
        sample: [0, 1, 2, 3, 4].map((at) => [`C${at}`, String(at * 1.5)]),
      },
    ],
  });
  assert.deepEqual(glance.sections, []);
  const whole = await parse("sales.xlsx", bytes);
  assert.equal(whole.sections.length, 3);
  assert.ok(whole.sections.every(({ text }) => text.startsWith("customer\tamount\n")));
  assert.match(textOf(whole), /C449\t673\.5/);
});

test("JSON: its shape; what is not valid is told and shown", async () => {
  const list = await parse("a.json", '[{"id":1,"tags":["x"]},{"id":2}]');
  assert.deepEqual(
    [list.metadata["type"], list.metadata["length"], list.metadata["item_keys"]],
    ["array", 2, ["id", "tags"]],
  );
  assert.deepEqual((await parse("b.json", '{"a":{"b":1}}')).metadata["keys"], ["a"]);
  assert.equal((await parse("c.json", '{"a":')).metadata["type"], "not valid");
});

test("Python: imports and definitions, also with errors in it", async () => {
  const code =
    "import os, sys\nfrom a.b import c as d\n\nclass A(B):\n    def m(self): pass\n\n@dec\ndef f(x): return 1\nasync def h(: ...\n";
  const { metadata } = await parse("x.py", code);
  assert.deepEqual(metadata["imports"], ["import os, sys", "from a.b import c as d"]);
  assert.deepEqual(metadata["classes"], ["A"]);
  assert.ok((metadata["functions"] as string[]).includes("f"));
  assert.ok(!(metadata["functions"] as string[]).includes("m"));
});

test("a PDF: pages with their text, title and author", async () => {
  const file = await parse("report", pdfOf(["First page (one)", "Second page"]));
  assert.equal(file.kind, "pdf");
  const { pages, title, author, encrypted } = file.metadata;
  assert.deepEqual([pages, title, author, encrypted], [2, "Annual report", "Ada", false]);
  assert.deepEqual(
    file.sections.map(({ text, page }) => [text.trim(), page]),
    [
      ["First page (one)", 1],
      ["Second page", 2],
    ],
  );
});

test("Word and PowerPoint: headings as paths, slides as pages", async () => {
  const docx = await parse(
    "a.docx",
    docxOf(
      [
        { text: "Plan", heading: 1 },
        { text: "Intro &amp; more" },
        { text: "Costs", heading: 2 },
        { text: "Ten euros" },
      ],
      "The plan",
    ),
  );
  assert.equal(docx.kind, "docx");
  assert.deepEqual([docx.metadata["title"], docx.metadata["headings"]], ["The plan", ["Plan", "Costs"]]);
  assert.deepEqual(docx.sections.at(-1)!.headings, ["Plan", "Costs"]);
  assert.match(docx.sections.at(-1)!.text, /Ten euros/);
  const pptx = await parse("a.pptx", pptxOf([["Welcome", "to this"], ["Numbers"]]));
  assert.deepEqual([pptx.metadata["slides"], pptx.metadata["titles"]], [2, ["Welcome", "Numbers"]]);
  assert.deepEqual(
    pptx.sections.map(({ page }) => page),
    [1, 2],
  );
});

test("pages of the web as Markdown, notebooks as cells, images as what they are", async () => {
  const words = "word ".repeat(60);
  const html = `<!doctype html><title>T &amp; t</title><script>alert(1)</script><h1>Top</h1><p>${words}</p><h2>Sub</h2><p>${words}</p>`;
  const page = await parse("page.html", html);
  assert.equal(page.metadata["title"], "T & t");
  assert.doesNotMatch(textOf(page), /alert/);
  const notebook = {
    cells: [
      { cell_type: "markdown", source: ["# Hi\n", "x"] },
      { cell_type: "code", source: "print(1)" },
    ],
  };
  const cells = await parse("n.ipynb", JSON.stringify(notebook));
  assert.deepEqual(
    cells.sections.map(({ text }) => text),
    ["# Hi\nx", "```\nprint(1)\n```"],
  );
  const png = await parse("photo.txt", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
  assert.deepEqual([png.kind, png.mediaType], ["image", "image/png"]);
});

test("the name does not decide what a file is, and text is cut where asked", async () => {
  assert.equal((await parse("innocent.csv", pdfOf(["x"]))).kind, "pdf");
  assert.equal((await parse("a.pdf", "just text")).kind, "text");
  assert.equal((await parse("a.txt", Buffer.from([0, 1, 2, 3]))).kind, "binary");
  const long = await parse("a.md", "# A\n" + "ä".repeat(5000), { maxText: 1000 });
  assert.deepEqual([long.cut, textOf(long).length], [true, 1000]);
});

test("hostile and broken files are refused in words, whatever they claim", async () => {
  const zeros = Buffer.alloc(60 * 1024 * 1024);
  const word = (data: Buffer, claimedSize?: number) =>
    zipOf([{ name: "word/document.xml", data, ...(claimedSize !== undefined && { claimedSize }) }]);
  const pdf = pdfOf(["x"]);
  const cases: readonly (readonly [what: string, file: Buffer, code: string])[] = [
    ["a bomb", word(zeros), "too-large"],
    ["a bomb that claims to be small", word(zeros, 1000), "broken"],
    ["an encrypted archive", zipOf([{ name: "word/document.xml", data: "x", encrypted: true }]), "encrypted"],
    ["half an archive", docxOf([{ text: "x" }]).subarray(0, 600), "broken"],
    ["a locked PDF", pdfOf(["x"], { locked: true }), "encrypted"],
    ["a PDF cut off", pdf.subarray(0, 60), "broken"],
    ["an old Office file", Buffer.from("d0cf11e0a1b11ae1" + "00".repeat(600), "hex"), "not-supported"],
    ["nested elements", Buffer.from("<html>" + "<div>".repeat(50_000)), "too-large"],
  ];
  for (const [what, file, code] of cases)
    await assert.rejects(parse("file", file), (error: { name: string; code: string; message: string }) => {
      assert.deepEqual([error.name, error.code], ["UnreadableFile", code], `${what}: ${error.message}`);
      return true;
    });
});

test("a file that is of two kinds at once is read as the one that its beginning says, and never as what its name says", async () => {
  const word = docxOf([{ text: "hidden words" }]);
  const page = "<html><script>alert(1)</script></html>";
  const cases: readonly (readonly [what: string, name: string, file: Buffer, kind: string])[] = [
    ["a picture and a page", "a.html", Buffer.from(`GIF89a/*${page}*/`), "image"],
    [
      "a picture with an archive behind it",
      "a.docx",
      Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), word]),
      "image",
    ],
    ["a PDF with an archive behind it", "a.docx", Buffer.concat([pdfOf(["open words"]), word]), "pdf"],
    ["a PDF and a page", "a.html", Buffer.concat([pdfOf(["open words"]), Buffer.from(page)]), "pdf"],
    ["a program that says it is a picture", "a.png", Buffer.from("\x7fELF\0\0\0", "latin1"), "binary"],
    ["an archive with a page as its comment", "a.html", zipOf([{ name: "a.html", data: page }]), "archive"],
  ];
  for (const [what, name, file, kind] of cases) {
    const parsed = await parse(name, file);
    assert.equal(parsed.kind, kind, what);
    assert.doesNotMatch(textOf(parsed), /hidden words|alert/, what);
  }
});

test("an archive whose names lead elsewhere writes nothing anywhere", async () => {
  const names = ["../../../../tmp/colloquy-slip", "/tmp/colloquy-slip", "a\\..\\..\\slip"];
  for (const name of names) {
    const file = zipOf([
      { name, data: "x" },
      { name: "word/document.xml", data: "<w:document/>" },
    ]);
    await parse("slip.docx", file).catch((error: { name: string }) => assert.equal(error.name, "UnreadableFile"));
  }
  assert.equal(existsSync("/tmp/colloquy-slip"), false);
});

test("a reader that takes too long or too much memory is killed; so it is when nobody waits any more", async () => {
  const brackets = Buffer.from("[".repeat(50_000));
  await parse("deep.json", brackets);
  const stop = new AbortController();
  const reading = parse("a.json", "{}", { signal: stop.signal });
  stop.abort(new Error("gone"));
  await assert.rejects(reading, /gone/);
  await assert.rejects(parse("a.json", "{}", { timeoutMs: 1 }), { code: "too-slow" });
  const large = Buffer.from(`[${"1,".repeat(5_000_000)}1]`);
  await assert.rejects(parse("large.json", large, { memoryBytes: 60 * 1024 * 1024 }), { code: "too-much-memory" });
});
