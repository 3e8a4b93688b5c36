import { createEventWriter, type EventWriter } from "./event-writer.ts";
import { itemIdIn } from "./ids.ts";

/** The output of a response as it grows, and the events that say so. */
export type OutputWriter = Pick<EventWriter, "event" | "delta" | "position" | "moveTo"> & {
  /** Whether it is the answer of a run, which can be taken up. */
  readonly isKept: boolean;
  readonly output: readonly object[];
  /** The place of the next item, with the id that it has there. */
  next(prefix: string): OutputPlace;
  added(place: OutputPlace, item: object): string;
  done(place: OutputPlace, item: object): string;
};

export type OutputPlace = {
  readonly index: number;
  readonly id: string;
  /** As the fields of an event. */
  readonly fields: string;
};

export function createOutputWriter(
  response: string,
  { isKept, after }: { readonly isKept: boolean; readonly after?: number },
): OutputWriter {
  const writer = createEventWriter(isKept, after);
  const output: object[] = [];
  const put = (type: string, index: number, item: object) => {
    output[index] = item;
    return writer.event(type, `"output_index":${index},"item":${JSON.stringify(item)}`);
  };
  return {
    ...writer,
    isKept,
    output,
    next(prefix) {
      const index = output.length;
      const id = itemIdIn(response, prefix, index);
      return { index, id, fields: `"item_id":"${id}","output_index":${index}` };
    },
    added: ({ index }, item) => put("response.output_item.added", index, item),
    done: ({ index }, item) => put("response.output_item.done", index, item),
  };
}
