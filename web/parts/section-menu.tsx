import { useEffect, useRef } from "react";
import { PageLink } from "./page-link.tsx";

type SectionMenuProps<Section extends string> = {
  readonly name: string;
  readonly path: string;
  /** The first one stands at the path itself. */
  readonly sections: readonly Section[];
  readonly names: Readonly<Record<Section, string>>;
  readonly current: Section;
};

/** Links beside one another; on a phone, where not all fit, the current one is in sight. */
export function SectionMenu<Section extends string>({
  name,
  path,
  sections,
  names,
  current,
}: SectionMenuProps<Section>) {
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current: frame } = menu;
    if (!frame) return;
    const show = () => {
      const link = frame.querySelector<HTMLElement>("[aria-current]");
      if (link) frame.scrollLeft = link.offsetLeft - frame.offsetLeft - (frame.clientWidth - link.offsetWidth) / 2;
    };
    const observer = new ResizeObserver(show);
    observer.observe(frame);
    return () => observer.disconnect();
  }, [current]);
  return (
    <nav ref={menu} aria-label={name} className="flex shrink-0 overflow-x-auto border-b border-hairline px-2">
      {sections.map((each, at) => (
        <PageLink key={each} to={at === 0 ? path : `${path}/${each}`} look="section-link" isCurrent={each === current}>
          {names[each]}
        </PageLink>
      ))}
    </nav>
  );
}
