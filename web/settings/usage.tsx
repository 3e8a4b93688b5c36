import { t } from "@lingui/core/macro";
import type { BudgetView } from "../../src/protocol/people/budgets.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { cost, figure, period, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { accountClient } from "./account-client.ts";
import { Section } from "./section.tsx";

const groupingNames = { model: t`Model`, agent: t`Agent`, day: t`Day` };

const head = { requests: t`Requests`, tokens: t`Tokens`, cost: t`Cost`, errors: t`Errors` };

const whoseNames = { user: t`yours`, default: t`yours (default)` };

const periodNames = { day: t`today`, month: t`this month` };

const stateNames = { ok: t`within budget`, warning: t`past its warning`, reached: t`used up` };

const amountNames = { tokens: t`Tokens`, cost: t`Cost`, requests: t`Requests` };
const groupings = ["model", "agent", "day"] as const;

/** What one may spend, and has spent. */
export function UsageSettings() {
  const budgets = useAnswer(["budgets"], accountClient.budgets);
  const by = useQuery().get("by");
  const grouping = groupings.find((each) => each === by) ?? "model";
  const used = useAnswer(["usage", grouping], (signal) => accountClient.usage({ by: grouping }, signal));
  return (
    <>
      <Section title={t`Budgets`}>
        <Waiting of={budgets} />
        {budgets.data?.length === 0 && <p className="text-sm text-muted">{t`No spending limit`}</p>}
        {budgets.data?.map((budget) => (
          <Budget key={budget.id} budget={budget} />
        ))}
      </Section>
      <Section title={t`Usage in the last 30 days`}>
        <div>
          <ChoiceField
            label={t`Group by`}
            value={grouping}
            options={groupings.map((each) => [each, groupingNames[each]])}
            onChange={(value) => changeQuery({ by: value })}
          />
        </div>
        <Waiting of={used} />
        {used.data?.length === 0 && <p className="text-sm text-muted">{t`No usage yet`}</p>}
        {used.data && used.data.length > 0 && (
          <div className="dense-view">
            <Table
              name={t`Usage in the last 30 days`}
              head={[groupingNames[grouping], ...Object.values(head)]}
              numbersFrom={1}
            >
              {used.data.map((row) => (
                <tr key={row.key}>
                  <th scope="row">{row.key === "" ? t`(none)` : grouping === "day" ? period(row.key) : row.key}</th>
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
  const whose = kind === "group" ? t`shared by group ${{ name: group ?? "" }}` : whoseNames[kind];
  return (
    <div className="grid gap-2 text-sm">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <strong>
          {periodNames[budget.period]} ({whose})
        </strong>
        {state !== undefined && <State grade={grades[state]}>{stateNames[state]}</State>}
        {endsAt !== undefined && <span className="text-muted">{t`until ${{ when: time(endsAt) }}`}</span>}
      </div>
      {kinds.map((each) => {
        const limit = budget[each];
        if (limit === null) return null;
        const show = each === "cost" ? cost : figure;
        const spent = used?.[each] ?? 0;
        return (
          <div key={each} className="grid gap-1">
            <span>
              {amountNames[each]}: {t`${{ used: show(spent) }} of ${{ limit: show(limit) }}`}
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
