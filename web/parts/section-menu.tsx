import { useEffect, useRef } from "react";
import { PageLink } from "./page-link.tsx";

type SectionMenuProps<Section extends string> = {
  readonly name: string;
  readonly path: string;
  /** The one that stands at the path itself. */
  readonly first: Section;
  readonly groups: readonly { readonly name: string; readonly sections: readonly Section[] }[];
  readonly names: Readonly<Record<Section, string>>;
  readonly current: Section;
};

/** The sections of a view, in groups at its side; where that is narrow, beside one another, with the current one in sight. */
export function SectionMenu<Section extends string>({
  name,
  path,
  first,
  groups,
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
    <nav ref={menu} aria-label={name} className="section-menu">
      {groups.map(({ name: group, sections }) => (
        <section key={group} aria-label={group}>
          <h2 aria-hidden>{group}</h2>
          {sections.map((each) => (
            <PageLink
              key={each}
              to={each === first ? path : `${path}/${each}`}
              look="section-link"
              isCurrent={each === current}
            >
              {names[each]}
            </PageLink>
          ))}
        </section>
      ))}
    </nav>
  );
}
