import {
  createContext,
  type ComponentProps,
  type CSSProperties,
  isValidElement,
  memo,
  type ReactNode,
  useContext,
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
import { createCutter, fencedCode, isFence, isListCut, withDefinitions, withFormulas } from "./markdown-blocks.ts";
import { useIsFormatted } from "./format-queue.ts";
import { RawText } from "./raw-text.tsx";
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
 * While it is being written only its last block is formatted anew; of what is long, the parts are formatted one after the other.
 */
export function Markdown({ text, citations, isLive, files }: MarkdownProps) {
  const [cut] = useState(createCutter);
  const marked = useMemo(() => withMarks(text, citations), [text, citations]);
  const parts = useMemo(() => partsOf(withDefinitions(cut(marked.text))), [cut, marked.text]);
  const last = parts.length - 1;
  return (
    <CitationMarks value={marked.marks}>
      <Files value={files}>
        <div className="prose-page">
          {parts.map((blocks, at) => (
            <MarkdownPart
              key={at}
              blocks={blocks}
              isLive={isLive && at === last}
              goesOn={at > 0 && isListCut(parts[at - 1]!.at(-1)!, blocks[0]!)}
              isAtOnce={at === 0 || at >= last - 1}
            />
          ))}
        </div>
      </Files>
    </CitationMarks>
  );
}

/** Characters of the blocks that are formatted together, which takes some milliseconds. */
const maxInPart = 4000;

function partsOf(blocks: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let length = Infinity;
  for (const block of blocks) {
    length += block.length;
    if (length <= maxInPart) parts.at(-1)!.push(block);
    else {
      parts.push([block]);
      length = block.length;
    }
  }
  return parts;
}

type PartProps = {
  readonly blocks: readonly string[];
  readonly isLive: boolean;
  /** It begins with more of the list that the one before ends with. */
  readonly goesOn: boolean;
  /** Without waiting for its turn. */ readonly isAtOnce: boolean;
};

const MarkdownPart = memo(
  function MarkdownPart({ blocks, isLive, goesOn, isAtOnce }: PartProps) {
    const isFormatted = useIsFormatted(isAtOnce);
    return (
      <div className="prose-part" data-goes-on={goesOn || undefined} style={sizeOf(blocks)}>
        {isFormatted
          ? blocks.map((block, at) => (
              <MarkdownBlock key={at} text={block} isLive={isLive && at === blocks.length - 1} />
            ))
          : blocks.join("")}
      </div>
    );
  },
  (one, other) =>
    one.isLive === other.isLive &&
    one.goesOn === other.goesOn &&
    one.blocks.length === other.blocks.length &&
    one.blocks.every((block, at) => block === other.blocks[at]),
);

/** About as high as it will be, so that the bar of the box that scrolls tells where one is: what is far off is laid out later. */
function sizeOf(blocks: readonly string[]): CSSProperties {
  const lines = blocks
    .flatMap((block) => block.split("\n"))
    .reduce((sum, { length }) => sum + (length === 0 ? 0.4 : Math.ceil(length / 85)), 0);
  return { containIntrinsicBlockSize: `auto ${Math.ceil(lines)}lh` };
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
  // Code is found without looking for Markdown in it.
  if (isFence(text) || text.length > maxInBlock) return <CodeAndText text={text} isLive={isLive} />;
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
function CodeAndText({ text, isLive }: { readonly text: string; readonly isLive: boolean }) {
  const pieces = useMemo(() => fencedCode(text), [text]);
  return pieces.map((piece, at) => {
    if (piece.kind === "code") return <CodeBlock key={at} {...piece} isLive={isLive} />;
    if (piece.text.length <= maxInBlock) return <MarkdownBlock key={at} text={piece.text} isLive={isLive} />;
    return <RawText key={at} text={piece.text} />;
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
  // Its numbers stand beside it, and have the room of two digits there.
  ol: ({ node, ...list }) => {
    const items = node?.children.filter(({ type }) => type === "element").length ?? 0;
    const more = String((list.start ?? 1) + items - 1).length - 2;
    return <ol {...list} style={more > 0 ? { paddingInlineStart: `${more}ch` } : undefined} />;
  },
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

/** Of the `code` element that stands in it. */
function Code({ children }: { readonly children?: ReactNode }) {
  const isLive = useContext(IsLive);
  const code: unknown = Array.isArray(children) ? children[0] : children;
  if (!isValidElement<{ className?: string; children?: unknown }>(code)) return <pre>{children}</pre>;
  const language = /\blanguage-(\S+)/.exec(code.props.className ?? "")?.[1] ?? "";
  return <CodeBlock language={language} text={String(code.props.children ?? "")} isLive={isLive} />;
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
