import { Check, Copy } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { words } from "../words.ts";

/** What an agent wrote, as Markdown; raw HTML in it stays text, and its links and images never load by themselves from elsewhere. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="prose-page">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  // An address that a model wrote could carry away what it read.
  img: ({ src, alt }) =>
    isOwn(src) ? (
      <img src={src} alt={alt ?? ""} className="max-w-full rounded-card" />
    ) : (
      <OutsideLink href={src}>{alt || src}</OutsideLink>
    ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={words.table}>
      <table>{children}</table>
    </div>
  ),
};

function OutsideLink({ href, children }: { readonly href?: string | undefined; readonly children?: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" className="text-accent underline">
      {children}
    </a>
  );
}

function isOwn(address: string | undefined): address is string {
  if (address === undefined || !URL.canParse(address, document.baseURI)) return false;
  return new URL(address, document.baseURI).origin === location.origin;
}

function CodeBlock({ children }: { readonly children?: ReactNode }) {
  const [copied, setCopied] = useState(false);
  return (
    <div className="relative">
      <pre tabIndex={0}>{children}</pre>
      <button
        type="button"
        className="icon-button absolute top-1 right-1"
        aria-label={copied ? words.copied : words.copyCode}
        onClick={(event) => {
          const text = event.currentTarget.parentElement?.querySelector("code")?.textContent ?? "";
          void navigator.clipboard.writeText(text).then(() => {
            setCopied(true);
            setTimeout(() => setCopied(false), 2000);
          });
        }}
      >
        {copied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
      </button>
    </div>
  );
}
