import { type ReactNode, useId } from "react";

type SectionProps = { readonly title: string; readonly explain?: string; readonly children: ReactNode };

/** One subject of the settings. */
export function Section({ title, explain, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 id={id} className="font-semibold">
        {title}
      </h2>
      {explain !== undefined && <p className="text-sm text-muted">{explain}</p>}
      {children}
    </section>
  );
}
