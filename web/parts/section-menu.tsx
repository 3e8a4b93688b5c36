import { type ReactNode, useEffect, useRef } from "react";

type MenuProps = { readonly name: string; readonly current: string; readonly children: ReactNode };

/** Links beside one another; on a phone, where not all fit, the current one is in sight. */
export function SectionMenu({ name, current, children }: MenuProps) {
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
      {children}
    </nav>
  );
}
