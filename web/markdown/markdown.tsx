import { createContext, type ComponentProps, memo, type ReactNode, useContext, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import type { Citation } from "../../src/protocol/citations.ts";
import { words } from "../words.ts";
import { splitAtMarks, withMarks } from "./cited-text.ts";
import { CitationChip, Marks } from "./citation-chip.tsx";
import "./code.css";
import { CodeBlock } from "./code-block.tsx";
import { FileLink, FilePicture, isRelative } from "./file-link.tsx";
import { markdownBlocks, withFormulas } from "./markdown-blocks.ts";
import { useMarkdownExtra } from "./markdown-extras.ts";

type MarkdownProps = {
  readonly text: string;
  readonly citations: readonly Citation[] | undefined;
  readonly isLive: boolean;
  readonly files: string | undefined;
};

/** Where files are that a text names by their paths. */
const Files = createContext<string | undefined>(undefined);

/**
 * What an agent wrote, as Markdown; raw HTML in it stays text, and its links and images never load by themselves from elsewhere.
 * While it is being written only its last block is formatted anew.
 */
export function Markdown({ text, citations, isLive, files }: MarkdownProps) {
  const marked = useMemo(() => withMarks(text, citations), [text, citations]);
  const blocks = markdownBlocks(marked.text);
  return (
    <Marks value={marked.marks}>
      <Files value={files}>
        <div className="prose-page">
          {blocks.map((block, at) => (
            <MarkdownBlock key={at} text={block} isLive={isLive && at === blocks.length - 1} />
          ))}
        </div>
      </Files>
    </Marks>
  );
}

/** In one block; what is longer is nothing that a person wrote, and would keep the page from its work. */
const mostInBlock = 50_000;

type Plugins = NonNullable<ComponentProps<typeof ReactMarkdown>["remarkPlugins"]>;

const MarkdownBlock = memo(function MarkdownBlock({
  text,
  isLive,
}: {
  readonly text: string;
  readonly isLive: boolean;
}) {
  const formulas = useMemo(() => withFormulas(text), [text]);
  const maths = useMarkdownExtra("maths", formulas.includes("$$"));
  // Code that is still being written is coloured when it is complete.
  const colours = useMarkdownExtra("colours", !isLive && /```|~~~/.test(text));
  if (text.length > mostInBlock) return <p className="break-words whitespace-pre-wrap">{text}</p>;
  const before: Plugins = maths ? [remarkGfm, maths.read, citationMarks] : [remarkGfm, citationMarks];
  const after: Plugins = [...(maths ? [maths.show] : []), ...(colours ? [colours.show] : [])];
  return (
    <IsLive value={isLive}>
      <ReactMarkdown remarkPlugins={before} rehypePlugins={after} components={components}>
        {maths ? formulas : text}
      </ReactMarkdown>
    </IsLive>
  );
});

const IsLive = createContext(false);

const components: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture src={src} alt={alt} />,
  pre: ({ children }) => <Code>{children}</Code>,
  // Below the headings of the turns, which are of the second level.
  h1: ({ children }) => <h3 className="first-heading">{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h6>{children}</h6>,
  cite: ({ children }) => <CitationChip at={Number(children)} />,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={words.table}>
      <table>{children}</table>
    </div>
  ),
};

function Code({ children }: { readonly children?: ReactNode }) {
  return <CodeBlock isLive={useContext(IsLive)}>{children}</CodeBlock>;
}

/** An address that may not be followed, such as a script, was taken out before: what is left is text. */
function Link({ href, children }: { readonly href?: string | undefined; readonly children?: ReactNode }) {
  const root = useContext(Files);
  const isLive = useContext(IsLive);
  if (href === undefined || href === "") return children;
  if (isRelative(href))
    return (
      <FileLink root={root} address={href} isLive={isLive}>
        {children}
      </FileLink>
    );
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" className="text-accent underline">
      {children}
    </a>
  );
}

/** An address that a model wrote could carry away what it read: only what is here is shown. */
function Picture({ src, alt }: { readonly src?: string | undefined; readonly alt?: string | undefined }) {
  const root = useContext(Files);
  const isLive = useContext(IsLive);
  if (src !== undefined && src !== "" && isRelative(src))
    return <FilePicture root={root} address={src} isLive={isLive} alt={alt} />;
  if (!isOwn(src)) return <Link href={src}>{alt || src}</Link>;
  return <img src={src} alt={alt ?? ""} loading="lazy" className="max-w-full rounded-card" />;
}

function isOwn(address: string | undefined): address is string {
  if (address === undefined || !URL.canParse(address, document.baseURI)) return false;
  return new URL(address, document.baseURI).origin === location.origin;
}

/** As far as is needed of what Markdown is read into. */
type Node = { type: string; value?: string; children?: Node[]; data?: { hName: string } };

/** Makes chips of the marks that stand in the text; in code they stay what they were. */
function citationMarks() {
  return (tree: Node) => visit(tree);
}

function visit(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child): Node[] => {
    if (child.type !== "text") {
      visit(child);
      return [child];
    }
    return splitAtMarks(child.value ?? "").map((part) =>
      typeof part === "string"
        ? { type: "text", value: part }
        : { type: "citation", data: { hName: "cite" }, children: [{ type: "text", value: String(part) }] },
    );
  });
}
