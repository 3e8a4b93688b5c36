import { crc32, deflateRawSync, deflateSync } from "node:zlib";

export type ZipEntry = {
  readonly name: string;
  readonly data: string | Buffer;
  /** What the headers say of the unpacked size, if not the truth. */
  readonly claimedSize?: number;
  readonly encrypted?: boolean;
};

/** A zip archive, also one that lies. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, claimedSize, encrypted } of entries) {
    const plain = Buffer.from(data);
    const packed = deflateRawSync(plain, { level: 9 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(encrypted ? 1 : 0, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claimedSize ?? plain.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0", "latin1"), fields, rest, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06", "latin1"), end]);
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const types = "http://schemas.openxmlformats.org/package/2006/content-types";
const relations = "http://schemas.openxmlformats.org/package/2006/relationships";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export type DocxParagraph = { readonly text: string; readonly heading?: number };

export function docxOf(paragraphs: readonly DocxParagraph[], title = ""): Buffer {
  const w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const body = paragraphs.map(({ text, heading }) => {
    const style = heading ? `<w:pPr><w:pStyle w:val="Heading${heading}"/></w:pPr>` : "";
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
  });
  const styles = [1, 2, 3].map(
    (level) => `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`,
  );
  return zipOf([
    {
      name: "[Content_Types].xml",
      data: `${xml}<Types xmlns="${types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    },
    {
      name: "_rels/.rels",
      data: `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: "word/_rels/document.xml.rels",
      data: `${xml}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    },
    { name: "word/styles.xml", data: `${xml}<w:styles xmlns:w="${w}">${styles.join("")}</w:styles>` },
    {
      name: "word/document.xml",
      data: `${xml}<w:document xmlns:w="${w}"><w:body>${body.join("")}</w:body></w:document>`,
    },
    {
      name: "docProps/core.xml",
      data: `${xml}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title><dc:creator>Ada</dc:creator></cp:coreProperties>`,
    },
  ]);
}

export function pptxOf(slides: readonly (readonly string[])[]): Buffer {
  const a = "http://schemas.openxmlformats.org/drawingml/2006/main";
  const p = "http://schemas.openxmlformats.org/presentationml/2006/main";
  const slide = (texts: readonly string[]) =>
    `${xml}<p:sld xmlns:a="${a}" xmlns:p="${p}"><p:cSld><p:spTree>${texts
      .map((text) => `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`)
      .join("")}</p:spTree></p:cSld></p:sld>`;
  return zipOf([
    { name: "[Content_Types].xml", data: `${xml}<Types xmlns="${types}"/>` },
    { name: "ppt/presentation.xml", data: `${xml}<p:presentation xmlns:p="${p}"/>` },
    ...slides.map((texts, at) => ({ name: `ppt/slides/slide${at + 1}.xml`, data: slide(texts) })),
  ]);
}

export type PdfOptions = {
  /** With a password that nobody knows. */
  readonly locked?: boolean;
  /** As typesetters write it: words in pieces with their distances, packed. */
  readonly typeset?: boolean;
};

/** A page a text, of one line or more. */
export function pdfOf(pages: readonly string[], { locked = false, typeset = false }: PdfOptions = {}): Buffer {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, at) => {
      const lines = text.split("\n").map(typeset ? kerned : (line) => `(${escaped(line)}) Tj`);
      const plain = `BT /F1 12 Tf 50 700 Td ${lines.join(" 0 -14 Td ")} ET`;
      const stream = typeset ? deflateSync(plain).toString("latin1") : plain;
      const filter = typeset ? " /Filter /FlateDecode" : "";
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${stream.length}${filter} >>\nstream\n${stream}\nendstream`,
      ];
    }),
    "<< /Title (Annual report) /Author (Ada) >>",
    ...(locked ? [`<< /Filter /Standard /V 1 /R 2 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> /P -4 >>`] : []),
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = text.length;
  const info = 4 + pages.length * 2;
  const lock = locked ? ` /Encrypt ${info + 1} 0 R /ID [<00> <00>]` : "";
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R${lock} >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

function escaped(text: string): string {
  return text.replaceAll(/[()\\]/g, "\\$&");
}

function kerned(line: string): string {
  const words = line
    .split(" ")
    .map((word) => (word.match(/.{1,3}/g) ?? []).map((piece) => `(${escaped(piece)})`).join("12"));
  return `[${words.join("-333")}] TJ`;
}
