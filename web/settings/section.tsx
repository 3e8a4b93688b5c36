import { type ReactNode, useId } from "react";
import type { AnswerState } from "../parts/answers.ts";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

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

type SettingsTableProps<Row> = {
  readonly name: string;
  readonly head: readonly string[];
  readonly loaded: AnswerState<readonly Row[]>;
  /** What is said where there are none. */
  readonly none: string;
  readonly row: (row: Row) => ReactNode;
};

/** What there is of one kind, each with what one may do to it. */
export function SettingsTable<Row>({ name, head, loaded, none, row }: SettingsTableProps<Row>) {
  return (
    <>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-sm">{none}</p>}
      {loaded.data && loaded.data.length > 0 && (
        <div className="dense-view">
          <Table name={name} head={head}>
            {loaded.data.map(row)}
          </Table>
        </div>
      )}
    </>
  );
}
