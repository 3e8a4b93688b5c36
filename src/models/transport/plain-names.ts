import { createHash } from "node:crypto";
import type { ModelPart, ModelRequest } from "../../protocol/agents/models.ts";

const plain = /^[A-Za-z0-9_-]{1,64}$/;

export type PlainNames = {
  readonly request: ModelRequest;
  /** The parts of an answer, with the names as they were; absent: they are. */
  readonly restored?: (parts: readonly ModelPart[]) => readonly ModelPart[];
};

/**
 * Writes the names of tools as services take them that know only letters, digits, `_` and `-`, 64 of them at most: `fs.read` as
 * `fs_read`. Two that would be the same are told apart by a hash.
 */
export function withPlainNames(request: ModelRequest): PlainNames {
  const used = new Set([
    ...(request.tools ?? []).map(({ name }) => name),
    ...request.messages.flatMap((message) =>
      message.role === "assistant" ? (message.calls ?? []).map(({ name }) => name) : [],
    ),
  ]);
  const others = [...used].filter((name) => !plain.test(name));
  if (others.length === 0) return { request };
  const sent = new Map<string, string>();
  for (const name of others) {
    const written = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
    const isFree = plain.test(written) && !used.has(written);
    const unique = isFree ? written : `${written.slice(0, 55)}_${shortHash(name)}`;
    sent.set(name, unique);
    used.add(unique);
  }
  const given = new Map([...sent].map(([name, written]) => [written, name]));
  const write = <Named extends { readonly name: string }>(named: Named): Named => ({
    ...named,
    name: sent.get(named.name) ?? named.name,
  });
  const { tools, toolChoice } = request;
  return {
    request: {
      ...request,
      ...(tools && { tools: tools.map(write) }),
      ...(toolChoice && { toolChoice: typeof toolChoice === "string" ? toolChoice : write(toolChoice) }),
      messages: request.messages.map((message) => {
        if (message.role === "tool") return write(message);
        if (message.role !== "assistant" || !message.calls) return message;
        return { ...message, calls: message.calls.map(write) };
      }),
    },
    restored: (parts) =>
      parts.map((part) => (part.type === "call-start" ? { ...part, name: given.get(part.name) ?? part.name } : part)),
  };
}

function shortHash(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
}
