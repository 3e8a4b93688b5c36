import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export type EmbeddingServer = {
  /** Of OpenAI's protocol. */
  readonly url: string;
  /** The texts of each request that came, in order. */
  readonly asked: string[][];
  /** What is answered instead, while it is set. */
  fault?: ((response: ServerResponse) => void) | undefined;
  /** Which requests are never answered. */
  isHeld?: ((texts: readonly string[]) => boolean) | undefined;
  /** Numbers of an embedding. */
  dimension: number;
  close(): Promise<void>;
};

/** A server that embeds by counting words: texts with the same words are near one another. */
export async function startEmbeddingServer({ dimension = 16 } = {}): Promise<EmbeddingServer> {
  const server = createServer((request, response) => {
    void (async () => {
      const { input } = (await json(request)) as { readonly input: readonly string[] };
      state.asked.push([...input]);
      if (state.isHeld?.(input)) return;
      if (state.fault) return state.fault(response);
      const data = input.map((text, index) => ({ index, embedding: wordVector(text, state.dimension) }));
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data: data.toReversed() }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const state: EmbeddingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: [],
    dimension,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return state;
}

export function wordVector(text: string, dimension: number): number[] {
  const vector = Array.from({ length: dimension }, () => 0.001);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)!) >>> 0;
    vector[hash % dimension]! += 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
