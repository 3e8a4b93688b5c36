import { z } from "zod";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { passedFields, passRequest } from "../../answers/pass-request.ts";
import { modelIn, refuse } from "../../answers/request-values.ts";
import { formParts } from "../../requests/form-parts.ts";
import { endpoint, type EndpointCall } from "../../server/endpoint.ts";

/** As OpenAI takes them. */
const mostBytes = 25 << 20;
const mostFields = 50;
const path = "audio/transcriptions";

export const createTranscription = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Write down what is said in a recording",
  description: `A form with \`model\` and \`file\`, of at most ${mostBytes >> 20} MB; passed on to the model's server, whose answer it is.`,
  takesBody: "form",
  answers: {
    200: {
      description: "The text, in the format that was asked for",
      content: {
        "application/json": { schema: z.looseObject({ text: z.string().optional() }) },
        "text/plain": { schema: z.string() },
      },
    },
  },
  async handle(call) {
    const { fields, file } = await readForm(call);
    const model = modelIn({ model: fields.findLast(([name]) => name === "model")?.[1] });
    if (!file) refuse("file", "is required: the recording, as a part of the form with a file name");
    if (fields.some(([name, value]) => name === "stream" && value === "true"))
      refuse("stream", "is not supported: the text comes whole");
    const asked = {
      model,
      path,
      // Nobody knows before how much is said in it.
      tokens: 0,
      async bodyFor(known: string) {
        const form = new FormData();
        form.append("model", known);
        for (const [name, value] of fields) if (name !== "model") form.append(name, value);
        form.append("file", file);
        const sent = new Response(form);
        return { contentType: sent.headers.get("content-type")!, bytes: Buffer.from(await sent.arrayBuffer()) };
      },
    } as const;
    const answer = await passRequest(call, asked);
    if (/json/i.test(answer.contentType)) return passedFields(answer, asked);
    call.reply.type("text/plain; charset=utf-8");
    return call.reply.send(answer.bytes);
  },
});

type TranscriptionForm = { readonly fields: readonly (readonly [name: string, value: string])[]; readonly file?: File };

async function readForm({ request }: EndpointCall): Promise<TranscriptionForm> {
  const fields: (readonly [string, string])[] = [];
  let file: File | undefined;
  for await (const part of formParts(request)) {
    if (part.type === "field") {
      if (typeof part.value !== "string") refuse(part.fieldname, "must be a text");
      if (fields.push([part.fieldname, part.value]) > mostFields) refuse("form", `has more than ${mostFields} fields`);
    } else if (part.fieldname === "file") {
      if (file) refuse("file", "must be one recording");
      file = new File([await wholeOf(part.bytes)], part.filename);
    }
  }
  return { fields, ...(file && { file }) };
}

async function wholeOf(bytes: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > mostBytes)
      throw new InvalidInput(`file: is larger than ${mostBytes >> 20} MB`, { param: "file", status: 413 });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
