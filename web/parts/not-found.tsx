import { PageLink } from "./page-link.tsx";
import { words } from "../words/words.ts";

/** At an address that leads to nothing. */
export function NotFoundPage() {
  return (
    <div className="grid justify-items-start gap-4 p-4">
      <h1 className="text-lg font-semibold">{words.nowhere}</h1>
      <PageLink to="/" look="button">
        {words.toBeginning}
      </PageLink>
    </div>
  );
}
