import { Check, Copy } from "lucide-react";
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { copyText } from "../browser/copy-text.ts";
import { ErrorBoundary } from "../page/error-boundary.tsx";
import { CodeLines } from "./highlight/code-lines.tsx";

const Diagram = lazy(async () => ({ default: (await import("./diagram.tsx")).Diagram }));

type CodeProps = {
  /** Of the fence; empty: none. */ readonly language: string;
  readonly text: string;
  readonly isLive: boolean;
};

/** Code with the name of its language and a button that copies it; a diagram is drawn once it is complete. */
export function CodeBlock({ language: named, text, isLive }: CodeProps) {
  const language = named === "" ? undefined : named.slice(0, 30);
  const block = (
    <PlainCode language={language}>
      <code>
        {/* Code that is still being written is coloured when it is complete. */}
        <CodeLines text={text} language={isLive ? "" : named} />
      </code>
    </PlainCode>
  );
  if (isLive || language !== "mermaid") return block;
  return (
    <ErrorBoundary instead={block}>
      <Suspense fallback={block}>
        <Diagram text={text} code={block} />
      </Suspense>
    </ErrorBoundary>
  );
}

function PlainCode({ language, children }: { readonly language: string | undefined; readonly children?: ReactNode }) {
  const [isCopied, setCopied] = useState(false);
  const pre = useRef<HTMLPreElement>(null);
  const name = isCopied ? t`Copied` : t`Copy code`;
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language ?? t`Code`}</span>
        <button
          type="button"
          className="icon-button"
          aria-label={name}
          title={name}
          onClick={() =>
            void copyText(pre.current?.textContent ?? "").then((isThere) => {
              setCopied(isThere);
              setTimeout(() => setCopied(false), 2000);
            })
          }
        >
          {isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        </button>
      </div>
      <pre ref={pre} dir="ltr" tabIndex={0} role="region" aria-label={language ?? t`Code`}>
        {children}
      </pre>
    </div>
  );
}
