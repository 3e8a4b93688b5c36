import { t } from "@lingui/core/macro";
import { definitions } from "./admin-client.ts";
import { useAnswer } from "../parts/answers.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";

const choiceNames = { agent: t`Default agent`, model: t`Default model` };

/** The model that the choice is about: it can't mean itself. */
const itself = "default";

type DefaultProps = { readonly of: "agent" | "model"; readonly names: readonly string[] | undefined };

/** Which one is meant where none is named; empty: the server chooses. */
export function Default({ of, names = [] }: DefaultProps) {
  const loaded = useAnswer(["admin", "defaults", of, names], definitions.defaults);
  const current = loaded.data?.find((each) => each.of === of);
  const isSet = current?.source === "database" || current?.readOnly === true;
  const chosen = isSet ? (current?.value ?? "") : "";
  const { problem, isBusy, act } = useAct(async (value: string) => {
    await definitions.setDefault(of, value === "" ? undefined : value);
    loaded.reload();
  });
  if (!current) return null;
  const byItself = current.value === null ? t`none` : t`automatic (${{ value: current.value }})`;
  return (
    <div className="grid justify-items-start gap-1">
      <ChoiceField
        label={choiceNames[of]}
        value={chosen}
        isDisabled={current.readOnly || isBusy}
        onChange={act}
        options={[
          ["", isSet ? t`automatic` : byItself],
          ...[
            ...new Set([...names.filter((id) => of === "agent" || id !== itself), ...(chosen === "" ? [] : [chosen])]),
          ].map((id): [string, string] => [id, id]),
        ]}
      />
      {current.readOnly && (
        <p className="text-muted">{t`Set in ${{ where: current.where ?? current.source }}. Change it there.`}</p>
      )}
      <Problem text={problem ?? current.problem ?? undefined} />
    </div>
  );
}
