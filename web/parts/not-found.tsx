import { t } from "@lingui/core/macro";
import { PageLink } from "./page-link.tsx";

/** At an address that leads to nothing. */
export function NotFoundPage() {
  return (
    <div className="grid justify-items-start gap-4 p-4">
      <h1 className="text-lg font-semibold">{t`Page not found`}</h1>
      <PageLink to="/" look="button">
        {t`Back to home`}
      </PageLink>
    </div>
  );
}
