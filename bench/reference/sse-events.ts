/** Feeds SSE text to `onData` event by event; returns what takes the bytes. The least that is right for one-line events. */
export function sseEvents(onData: (data: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = "";
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true });
    let from = 0;
    for (let at = rest.indexOf("\n\n"); at !== -1; at = rest.indexOf("\n\n", from)) {
      if (rest.startsWith("data: ", from)) onData(rest.slice(from + 6, at));
      from = at + 2;
    }
    rest = rest.slice(from);
  };
}
