import {
  createContext,
  type ComponentProps,
  memo,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { t } from "@lingui/core/macro";
import type { Citation } from "../../src/protocol/knowledge/citations.ts";
import { splitAtMarks, withMarks } from "./cited-text.ts";
import { CitationChip, CitationMarks } from "./citation-chip.tsx";
import "./code.css";
import { CodeBlock } from "./code-block.tsx";
import { FileLink, FilePicture, isRelative } from "./file-link.tsx";
import { fencedCode, markdownBlocks, withFormulas } from "./markdown-blocks.ts";
import { textDirection } from "./text-direction.ts";
import { createListeners } from "../browser/listeners.ts";

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
  const blocks = useMemo(() => markdownBlocks(marked.text), [marked.text]);
  const mounted = useSteps(blocks.length);
  return (
    <CitationMarks value={marked.marks}>
      <Files value={files}>
        <div className="prose-page">
          {blocks.slice(0, mounted).map((block, at) => (
            <MarkdownBlock key={at} text={block} isLive={isLive && at === blocks.length - 1} />
          ))}
        </div>
      </Files>
    </CitationMarks>
  );
}

/** What is mounted at once, and what comes with each frame after it: a long text would stop the page for seconds. */
const [firstBlocks, stepBlocks] = [30, 6];

function useSteps(total: number): number {
  const [count, setCount] = useState(firstBlocks);
  useEffect(() => {
    if (count >= total) return undefined;
    const frame = requestAnimationFrame(() => setCount(count + stepBlocks));
    return () => cancelAnimationFrame(frame);
  }, [count, total]);
  return Math.min(count, total);
}

/** In one block; what is longer is nothing that a person wrote, and would keep the page from its work. */
const maxInBlock = 50_000;

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
  if (text.length > maxInBlock) return <LongBlock text={text} isLive={isLive} />;
  const before: Plugins = maths ? [remarkGfm, maths.read, citationMarks] : [remarkGfm, citationMarks];
  const after: Plugins = [...(maths ? [maths.show] : []), textDirection];
  return (
    <IsLive value={isLive}>
      <ReactMarkdown remarkPlugins={before} rehypePlugins={after} components={components}>
        {maths ? formulas : text}
      </ReactMarkdown>
    </IsLive>
  );
});

/** Code stays code; text that is too long to be formatted stands as it is. */
function LongBlock({ text, isLive }: { readonly text: string; readonly isLive: boolean }) {
  const pieces = useMemo(() => fencedCode(text), [text]);
  return pieces.map((piece, at) => {
    if (piece.kind === "code")
      return (
        <CodeBlock key={at} isLive={isLive}>
          <code className={piece.language === "" ? undefined : `language-${piece.language}`}>{piece.text}</code>
        </CodeBlock>
      );
    if (piece.text.length <= maxInBlock) return <MarkdownBlock key={at} text={piece.text} isLive={isLive} />;
    return (
      <p key={at} dir="auto" className="break-words whitespace-pre-wrap">
        {piece.text}
      </p>
    );
  });
}

const IsLive = createContext(false);

const components: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture src={src} alt={alt} />,
  pre: ({ children }) => <Code>{children}</Code>,
  // The box of a task list.
  input: ({ checked }) => (
    <input type="checkbox" checked={checked} disabled aria-label={checked ? t`Completed` : t`Not completed`} />
  ),
  // Below the headings of the turns, which are of the second level.
  h1: ({ children, dir }) => (
    <h3 className="first-heading" dir={dir}>
      {children}
    </h3>
  ),
  h2: ({ children, dir }) => <h3 dir={dir}>{children}</h3>,
  h3: ({ children, dir }) => <h4 dir={dir}>{children}</h4>,
  h4: ({ children, dir }) => <h5 dir={dir}>{children}</h5>,
  h5: ({ children, dir }) => <h6 dir={dir}>{children}</h6>,
  cite: ({ children }) => <CitationChip at={Number(children)} />,
  table: ({ children, dir }) => (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={t`Table`}>
      <table dir={dir}>{children}</table>
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
type MarkdownNode = { type: string; value?: string; children?: MarkdownNode[]; data?: { hName: string } };

/** Makes chips of the marks that stand in the text; in code they stay what they were. */
function citationMarks() {
  return (tree: MarkdownNode) => visit(tree);
}

function visit(node: MarkdownNode): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child): MarkdownNode[] => {
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

type Plugin = NonNullable<ComponentProps<typeof ReactMarkdown>["rehypePlugins"]>[number];
type MarkdownExtension = { readonly read: Plugin; readonly show: Plugin };

/** What few texts need, and is large: loaded when the first such text is shown. */
const loaders = {
  async maths(): Promise<MarkdownExtension> {
    const [{ default: read }, { default: show }] = await Promise.all([import("remark-math"), import("rehype-katex")]);
    // The browser's own formulas need no fonts. What a model wrote may neither grow without end nor load anything.
    const options = { output: "mathml", strict: "ignore", maxSize: 20, maxExpand: 500, trust: false } as const;
    return { read: [read, { singleDollarTextMath: false }], show: [show, options] };
  },
};
type LoaderName = keyof typeof loaders;

const loaded: Partial<Record<LoaderName, MarkdownExtension>> = {};
const asked = new Set<LoaderName>();
const listeners = createListeners();

/** Undefined while it is not there: until then the text is shown without. */
function useMarkdownExtra(name: LoaderName, isNeeded: boolean): MarkdownExtension | undefined {
  return useSyncExternalStore(listeners.listen, () => {
    if (isNeeded) load(name);
    return isNeeded ? loaded[name] : undefined;
  });
}

function load(name: LoaderName): void {
  if (asked.has(name)) return;
  asked.add(name);
  loaders[name]().then(
    (extra) => {
      loaded[name] = extra;
      listeners.tell();
    },
    // Tried again by the next text that needs it.
    () => asked.delete(name),
  );
}
