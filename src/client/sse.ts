/** One event of a stream; `id` is the last one sent so far. */
export type SseEvent = { readonly type: string; readonly data: string; readonly id: string | undefined };

/** Characters that one event may have. */
const eventLimit = 16 * 1024 * 1024;

/** Takes a stream's text piece by piece, gives the events that are whole. Throws when one is beyond all bounds. */
export function createSseParser(): (text: string) => SseEvent[] {
  let rest = "";
  let type = "";
  let id: string | undefined;
  let data: string[] = [];
  let size = 0;

  const line = (text: string, events: SseEvent[]) => {
    if (text === "") {
      if (data.length > 0) events.push({ type: type || "message", data: data.join("\n"), id });
      type = "";
      data = [];
      size = 0;
      return;
    }
    const colon = text.indexOf(":");
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") type = value;
    else if (field === "id") id = value;
    size += text.length;
  };

  return (text) => {
    const events: SseEvent[] = [];
    rest += text;
    let from = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", from)) {
      line(rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end), events);
      from = end + 1;
    }
    rest = rest.slice(from);
    if (rest.length + size > eventLimit) throw new Error(`an event of more than ${eventLimit} characters`);
    return events;
  };
}
