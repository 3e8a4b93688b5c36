import type { BudgetView } from "../../src/protocol/people/budgets.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { cost, figure, period, time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { State } from "../parts/state.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { accountClient } from "./account-client.ts";
import { Section } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.use;
const groupings = ["model", "agent", "day"] as const;

/** What one may spend, and has spent. */
export function UsageSettings() {
  const budgets = useLoaded("own budgets", accountClient.budgets);
  const by = useQuery().get("by");
  const grouping = groupings.find((each) => each === by) ?? "model";
  const used = useLoaded(grouping, (signal) => accountClient.usage({ by: grouping }, signal));
  return (
    <>
      <Section title={texts.budgets}>
        <Waiting of={budgets} />
        {budgets.data?.length === 0 && <p className="text-sm text-muted">{texts.noBudgets}</p>}
        {budgets.data?.map((budget) => (
          <Budget key={budget.id} budget={budget} />
        ))}
      </Section>
      <Section title={texts.used}>
        <div>
          <ChoiceField
            label={texts.by}
            value={grouping}
            options={groupings.map((each) => [each, texts.groupings[each]])}
            onChange={(value) => changeQuery({ by: value })}
          />
        </div>
        <Waiting of={used} />
        {used.data?.length === 0 && <p className="text-sm text-muted">{texts.nothing}</p>}
        {used.data && used.data.length > 0 && (
          <div className="dense-view">
            <Table name={texts.used} head={[texts.groupings[grouping], ...Object.values(texts.head)]} numbersFrom={1}>
              {used.data.map((row) => (
                <tr key={row.key}>
                  <th scope="row">{row.key === "" ? texts.none : grouping === "day" ? period(row.key) : row.key}</th>
                  <td className="number">{figure(row.requests)}</td>
                  <td className="number">{figure(row.inputTokens + row.outputTokens)}</td>
                  <td className="number">{cost(row.cost)}</td>
                  <td className="number">{figure(row.errors)}</td>
                </tr>
              ))}
            </Table>
          </div>
        )}
      </Section>
    </>
  );
}

const kinds = ["tokens", "cost", "requests"] as const;
const grades = { ok: "ok", warning: "warn", reached: "bad" } as const;

function Budget({ budget }: { readonly budget: BudgetView }) {
  const { kind, group, state, endsAt, used } = budget;
  const whose = kind === "group" ? texts.whose.group(group ?? "") : texts.whose[kind];
  return (
    <div className="grid gap-2 text-sm">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <strong>
          {texts.periods[budget.period]} ({whose})
        </strong>
        {state !== undefined && <State grade={grades[state]}>{texts.states[state]}</State>}
        {endsAt !== undefined && <span className="text-muted">{texts.until(time(endsAt))}</span>}
      </div>
      {kinds.map((each) => {
        const limit = budget[each];
        if (limit === null) return null;
        const show = each === "cost" ? cost : figure;
        const spent = used?.[each] ?? 0;
        return (
          <div key={each} className="grid gap-1">
            <span>
              {texts.amounts[each]}: {texts.of(show(spent), show(limit))}
            </span>
            <div className="meter" aria-hidden>
              <span style={{ width: `${limit === 0 ? 100 : Math.min(100, (spent / limit) * 100)}%` }} />
            </div>
          </div>
        );
      })}
    </div>
  );
}
