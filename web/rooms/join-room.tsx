import { t } from "@lingui/core/macro";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";

/** For whoever has the address of a room and is not in it: into some of them everybody may come. */
export function JoinRoom({ id, onIn }: { readonly id: string; readonly onIn: () => void }) {
  const coming = useAct(async () => {
    try {
      await client.rooms.join(id);
    } catch (error) {
      if (error instanceof ColloquyError && error.status === 404)
        throw new Error(t`This room doesn't exist, or you need an invitation from its owner.`, { cause: error });
      throw error;
    }
    onIn();
  });
  return (
    <section className="mx-auto grid w-full max-w-[46rem] gap-4 px-4 pt-[8dvh]">
      <h1 className="text-lg font-semibold">{t`You are not in this room`}</h1>
      <p className="text-muted">{t`Some rooms are open to everyone. For the others, ask the owner for an invitation.`}</p>
      <div className="flex flex-wrap items-center gap-3">
        <button type="button" className="button-main" disabled={coming.isBusy} onClick={() => coming.act()}>
          {t`Join`}
        </button>
        <PageLink to="/rooms" look="underline">
          {t`Rooms`}
        </PageLink>
      </div>
      <Problem text={coming.problem} />
    </section>
  );
}
