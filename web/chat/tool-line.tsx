import type { BlockOf } from "../../src/client/conversation.ts";
import { words } from "../words.ts";

/** What an agent did, in one quiet line; arguments, output and result on demand. */
export function ToolLine({ call }: { readonly call: BlockOf<"call"> }) {
  const { name, arguments: given, result, output } = call;
  const { state, tone } = stateOf(call);
  return (
    <details className="tool-line">
      <summary>
        <span className="font-mono">{name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-muted">{summaryOf(given)}</span>
        <span className={tone}>{state}</span>
      </summary>
      <dl className="grid gap-2 border-l-2 border-hairline py-1 pl-3">
        <Part name={words.arguments} text={pretty(given)} />
        {output !== "" && <Part name={words.output} text={output} />}
        {result && <Part name={words.result} text={result.content} />}
        {result && result.sources.length > 0 && (
          <div>
            <dt className="text-muted">{words.sources}</dt>
            {result.sources.map(({ title, url }, at) => (
              <dd key={at}>
                [{at + 1}]{" "}
                {url === undefined ? (
                  title
                ) : (
                  <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent underline">
                    {title}
                  </a>
                )}
              </dd>
            ))}
          </div>
        )}
      </dl>
    </details>
  );
}

function Part({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd>
        <pre tabIndex={0} className="max-h-80 overflow-auto font-mono whitespace-pre-wrap">
          {text}
        </pre>
      </dd>
    </div>
  );
}

function stateOf({ result, startedAt, endedAt }: BlockOf<"call">): { state: string; tone: string } {
  if (!result) return { state: `… ${words.running}`, tone: "text-muted" };
  const ms = endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
  const took = ms === undefined ? "" : ms < 1000 ? ` ${ms} ms` : ` ${(ms / 1000).toFixed(1)} s`;
  switch (result.outcome) {
    case "not-run":
      return { state: `– ${words.notRun}`, tone: "text-muted" };
    case "interrupted":
      return { state: `✗ ${words.interrupted}`, tone: "text-warn" };
    case "unknown":
      return { state: `? ${words.unknown}`, tone: "text-warn" };
    default:
      return result.isError
        ? { state: `✗ ${words.failedCall}${took}`, tone: "text-bad" }
        : { state: `✓ ${words.done}${took}`, tone: "text-ok" };
  }
}

function summaryOf(given: string): string {
  const line = given.replaceAll(/\s+/g, " ").trim();
  return line === "{}" ? "" : line.slice(0, 300);
}

function pretty(given: string): string {
  try {
    return JSON.stringify(JSON.parse(given), null, 2);
  } catch {
    return given;
  }
}
