import { ModelError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { plainText } from "../../protocol/base/json-text.ts";
import type { MessageBody, NewItem } from "../../protocol/threads/items.ts";
import type { Usage, Model, ModelCallRecord, ModelRequest } from "../../protocol/agents/models.ts";
import type { PricedCall } from "../../store/metering/model-calls.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import type { DeltaKind } from "../log/deltas.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { AnswerTextReader } from "../text/heard-text.ts";

export function emptyAnswer(): ModelAnswer {
  return {
    text: "",
    reasoning: "",
    protocolAt: undefined,
    calls: [],
    model: "",
    finish: undefined,
    stopSequence: undefined,
    usage: undefined,
    opaque: undefined,
    unseen: 0,
    records: [],
    attempt: 0,
  };
}

/** Called after text was added to the answer. */
export type OnAnswerDelta = (kind: DeltaKind, offset: number, text: string) => void;

type AnswerReading = {
  readonly signal: AbortSignal;
  readonly answer: ModelAnswer;
  readonly tell: OnAnswerDelta;
  readonly asProtocol?: boolean;
  /** Separates the answer's text from tool calls, thoughts and stop tokens that a server left in it. */
  readonly textReader?: AnswerTextReader | undefined;
  readonly costOf?: Runtime["costOf"];
};

/**
 * Reads a model's stream into `answer` and reports text as it arrives: once per network read, not once per token. With
 * `asProtocol` the text is not an answer but the strategy's own protocol: it is reported and stored as reasoning.
 */
export async function readAnswer(
  model: Model,
  request: ModelRequest,
  { signal, answer, tell, asProtocol = false, textReader, costOf = () => undefined }: AnswerReading,
): Promise<void> {
  const priced = (record: ModelCallRecord): PricedCall => {
    const usage = { inputTokens: record.inputTokens ?? 0, outputTokens: record.outputTokens ?? 0 };
    const cost = costOf(record.model, usage) ?? costOf(model.id, usage);
    return cost === undefined ? record : { ...record, cost };
  };
  const wholeText = wellFormed();
  const wholeReasoning = wellFormed();
  const stream = model.stream(
    { ...request, once: true, onCall: (record) => answer.records.push(priced(record)) },
    signal,
  );
  for await (const parts of stream) {
    let text = "";
    let reasoning = "";
    for (const part of parts) {
      switch (part.type) {
        case "text":
          text += part.text;
          break;
        case "reasoning":
          reasoning += part.text;
          break;
        case "call-start":
          answer.calls[part.index] = {
            name: part.name,
            arguments: "",
            ...(part.given === undefined ? {} : { given: part.given }),
          };
          break;
        case "call-delta":
          answer.calls[part.index]!.arguments += part.arguments;
          break;
        case "start":
          answer.model = part.model;
          answer.unseen = part.unseen ?? 0;
          break;
        case "finish":
          answer.finish = part.reason;
          answer.stopSequence = part.stopSequence;
          answer.usage = part.usage;
          answer.opaque = part.opaque;
      }
    }
    if (textReader) {
      const heard = text === "" ? undefined : textReader.take(text);
      const rest = answer.finish === undefined ? undefined : textReader.end();
      text = (heard?.text ?? "") + (rest?.text ?? "");
      reasoning += (heard?.thinking ?? "") + (rest?.thinking ?? "");
      // A server that sends a call may leave its text in the answer too: that is still one call.
      if (answer.calls.length === 0) answer.calls.push(...(rest?.calls ?? []));
    }
    reasoning = wholeReasoning(reasoning);
    text = wholeText(text);
    if (asProtocol) {
      // Once the protocol's text has begun, reasoning may not interrupt it.
      if (answer.protocolAt !== undefined) reasoning = "";
      if (text && answer.protocolAt === undefined) {
        if (answer.reasoning || reasoning) reasoning += "\n\n";
        answer.protocolAt = answer.reasoning.length + reasoning.length;
      }
      reasoning += text;
      text = "";
    }
    if (reasoning) {
      const offset = answer.reasoning.length;
      answer.reasoning += reasoning;
      tell("reasoning", offset, reasoning);
    }
    if (text) {
      const offset = answer.text.length;
      answer.text += text;
      tell("text", offset, text);
    }
  }
  if (answer.finish === undefined) throw new ModelError("cut", `${model.id}: the answer broke off before its end.`);
}

/**
 * Text as the store will give it back, so that what is told live is what is stored. Half of a character waits for its other
 * half, which may come with the next read.
 */
function wellFormed(): (text: string) => string {
  let half = "";
  return (text) => {
    if (!text) return "";
    const joined = half + text;
    const last = joined.charCodeAt(joined.length - 1);
    half = last >= 0xd800 && last <= 0xdbff ? joined.slice(-1) : "";
    return plainText((half ? joined.slice(0, -1) : joined).toWellFormed());
  };
}

export type AnswerPlace = { readonly step: string; readonly author: string };
export type CallAppendOptions = {
  /** Which tools the caller runs itself. */
  readonly isClient: (name: string) => boolean;
  /** The last seq that the prompt held. */
  readonly seen?: number;
};

/**
 * The items of a complete answer: its message and, in order, its calls. Calls of an answer that was cut for length may be
 * cut themselves, so they are not run: each gets a result that says so.
 */
export function answerItems(answer: ModelAnswer, place: AnswerPlace, { isClient, seen }: CallAppendOptions): NewItem[] {
  const at = { ...place, attempt: answer.attempt };
  const items: NewItem[] = [
    {
      id: newId(),
      kind: "message",
      ...at,
      body: { ...messageBody(answer), ...(seen === undefined ? {} : { seen }) },
    },
  ];
  answer.calls.forEach((call, index) => {
    const target = isClient(call.name) ? "client" : "server";
    items.push({
      id: newId(),
      kind: "call",
      ...at,
      index,
      body: { name: call.name, arguments: call.arguments, target },
    });
    if (answer.finish !== "length") return;
    const content =
      "Not run: the answer reached its length limit before the call was complete. Answer in smaller parts.";
    items.push({ id: newId(), kind: "result", ...at, index, body: { content, isError: true, outcome: "not-run" } });
  });
  return items;
}

/** Makes an item of the text that arrived before the stream was interrupted. */
export function partialItem(answer: ModelAnswer, place: AnswerPlace): NewItem | undefined {
  if (!answer.text && !answer.reasoning) return undefined;
  const { attempt } = answer;
  return { id: newId(), kind: "message", ...place, attempt, body: { ...messageBody(answer), partial: true } };
}

export function messageBody(answer: ModelAnswer): MessageBody {
  const { text, reasoning, protocolAt, opaque, model, finish, stopSequence, usage, unseen, records } = answer;
  const costs = records.flatMap(({ cost }) => cost ?? []);
  return {
    role: "assistant",
    content: text,
    ...(reasoning ? { reasoning } : {}),
    ...(protocolAt === undefined ? {} : { protocolAt }),
    ...(opaque === undefined ? {} : { opaque }),
    model,
    ...(unseen > 0 ? { unseenPictures: unseen } : {}),
    ...(finish === undefined ? {} : { finish }),
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(usage ? { usage: keptUsage(usage) } : {}),
    ...(costs.length > 0 ? { cost: costs.reduce((sum, cost) => sum + cost, 0) } : {}),
    ...timingOf(records),
  };
}

/** As the model's calls tell it, those included that failed before the one that answered. */
function timingOf(records: readonly PricedCall[]): Pick<MessageBody, "timing"> {
  const [begin, last] = [records[0], records.at(-1)];
  if (!begin || !last) return {};
  const before = last.startedAt.getTime() - begin.startedAt.getTime();
  const first = last.firstPartMs === null ? {} : { firstMs: Math.round(before + last.firstPartMs) };
  return { timing: { ...first, totalMs: Math.round(before + last.totalMs) } };
}

function keptUsage({ inputTokens, outputTokens, cachedTokens = 0 }: Usage): Usage {
  return { inputTokens, outputTokens, ...(cachedTokens > 0 && { cachedTokens }) };
}
