import { Ghost } from "lucide-react";
import { t } from "@lingui/core/macro";
import { changeQuery, useQuery } from "../page/path.ts";
import { ViewHead } from "../page/view-head.tsx";

/** Whether what is begun here is to leave nothing behind. */
export const useIsTemporary = () => useQuery().has("temporary");

/** Above a conversation that is not begun yet: whether it is to stay. */
export function NewConversationHead() {
  const isTemporary = useIsTemporary();
  return (
    <ViewHead>
      {isTemporary && (
        <p className="min-w-0 text-sm text-muted">
          {t`Temporary: in no list, and deleted when you close it, or after a day.`}
        </p>
      )}
      <button
        type="button"
        className="icon-button ms-auto"
        aria-label={t`Temporary conversation`}
        aria-pressed={isTemporary}
        onClick={() => changeQuery({ temporary: isTemporary ? undefined : "1" })}
      >
        <Ghost size={16} aria-hidden />
      </button>
    </ViewHead>
  );
}
