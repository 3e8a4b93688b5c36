import { Check, Copy } from "lucide-react";
import { isValidElement, lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { copyText } from "../browser/copy-text.ts";
import { ErrorBoundary } from "../page/error-boundary.tsx";
import { CodeLines } from "./highlight/code-lines.tsx";

const Diagram = lazy(async () => ({ default: (await import("./diagram.tsx")).Diagram }));

type CodeProps = { readonly children?: ReactNode; readonly isLive: boolean };

/** Code with the name of its language and a button that copies it; a diagram is drawn once it is complete. */
export function CodeBlock({ children, isLive }: CodeProps) {
  const language = languageOf(children);
  const text = isLive ? undefined : childrenText(children);
  // Code that is still being written is coloured when it is complete.
  const block = (
    <PlainCode language={language}>
      {text === undefined || language === undefined ? (
        children
      ) : (
        <code>
          <CodeLines text={text} language={language} />
        </code>
      )}
    </PlainCode>
  );
  if (text === undefined || language !== "mermaid") return block;
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

/** Of the `code` element that is within. */
function codeOf(children: ReactNode): { readonly className?: string; readonly children?: ReactNode } {
  const child: unknown = Array.isArray(children) ? children[0] : children;
  return isValidElement<{ className?: string; children?: ReactNode }>(child) ? child.props : {};
}

function languageOf(children: ReactNode): string | undefined {
  return /\blanguage-(\S{1,30})/.exec(codeOf(children).className ?? "")?.[1];
}

function childrenText(children: ReactNode): string | undefined {
  const { children: text } = codeOf(children);
  return typeof text === "string" ? text : undefined;
}
