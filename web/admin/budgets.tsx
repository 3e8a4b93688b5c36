import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { OnBudgetLimit, BudgetView } from "../../src/protocol/people/budgets.ts";
import type { BudgetInput } from "../../src/client/budgets.ts";
import { budgets, groups, users } from "./admin-client.ts";
import { cost, currency, figure, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const periodNames = { day: t`day`, month: t`month` };

const stateNames = { ok: t`within budget`, warning: t`past its warning`, reached: t`used up` };

const limitNames = { wait: t`runs pause and ask`, refuse: t`runs fail`, warn: t`warn only` };

const amountNames = { tokens: t`tokens`, cost: t`cost`, requests: t`requests` };

/** What may be spent on models in a day or a month, and what is. */
export function Budgets() {
  const loaded = useAnswer(["admin", "budgets"], budgets.list);
  const [given, setGiven] = useState<BudgetView>();
  return (
    <>
      <SetBudget key={given?.id ?? ""} given={given} onSet={loaded.reload} />
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{t`No spending limit`}</p>}
      {loaded.data && loaded.data.length > 0 && (
        <Table name={t`Budgets`} head={[t`Applies to`, t`Per`, t`Used`, t`State`, t`When used up`, t`Actions`]}>
          {loaded.data.map((budget) => (
            <tr key={budget.id}>
              <th scope="row">{whose(budget)}</th>
              <td>{periodNames[budget.period]}</td>
              <td className="min-w-44">
                <Used budget={budget} />
              </td>
              <td>
                {budget.state === undefined ? (
                  <State grade="quiet">{t`each separately`}</State>
                ) : (
                  <State grade={grades[budget.state]}>{stateNames[budget.state]}</State>
                )}
                {budget.endsAt !== undefined && (
                  <div className="text-muted">{t`until ${{ when: time(budget.endsAt) }}`}</div>
                )}
              </td>
              <td>{limitNames[budget.onLimit]}</td>
              <td>
                <div className="row-actions">
                  <button
                    type="button"
                    className="button"
                    aria-label={`${t`Edit`}: ${whose(budget)}`}
                    onClick={() => setGiven(budget)}
                  >
                    {t`Edit`}
                  </button>
                  <Act
                    name={`${t`Delete`}: ${whose(budget)}`}
                    onAct={() => budgets.remove(budget.id).then(loaded.reload)}
                  >
                    {t`Delete`}
                  </Act>
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const grades = { ok: "ok", warning: "warn", reached: "bad" } as const;
const amounts = ["tokens", "cost", "requests"] as const;

function whose({ kind, user, group }: BudgetView): string {
  return kind === "default"
    ? t`each account without its own`
    : kind === "user"
      ? (user?.name ?? "")
      : t`group ${{ name: group ?? "" }}, shared`;
}

/** Of each amount that has a bound: what is used of it. */
function Used({ budget }: { readonly budget: BudgetView }) {
  return amounts.map((amount) => {
    const most = budget[amount];
    if (most === null) return null;
    const show = amount === "cost" ? cost : figure;
    const used = budget.used?.[amount];
    return (
      <div key={amount}>
        {used === undefined ? show(most) : t`${{ used: show(used) }} of ${{ most: show(most) }}`} {amountNames[amount]}
        {used !== undefined && (
          <div className="meter" aria-hidden>
            <span style={{ width: `${Math.min(100, most === 0 ? 100 : (used / most) * 100)}%` }} />
          </div>
        )}
      </div>
    );
  });
}

type SetProps = { readonly given: BudgetView | undefined; readonly onSet: () => void };

function SetBudget({ given, onSet }: SetProps) {
  const people = useAnswer(["admin", "users"], users.list);
  const sets = useAnswer(["admin", "groups"], groups.list);
  const [subject, setSubject] = useState(subjectOf(given));
  const [period, setPeriod] = useState<"day" | "month">(given?.period ?? "month");
  const [values, setValues] = useState({
    tokens: given?.tokens?.toString() ?? "",
    cost: given?.cost?.toString() ?? "",
    requests: given?.requests?.toString() ?? "",
    warnAt: ((given?.warnAt ?? 0.8) * 100).toString(),
  });
  const [onLimit, setOnLimit] = useState<OnBudgetLimit>(given?.onLimit ?? "wait");
  const amount = (key: "tokens" | "cost" | "requests") => (values[key] === "" ? null : Number(values[key]));
  const input = (key: keyof typeof values, label: string, bounds: { isWhole?: true; most?: number } = {}) => (
    <TextField
      label={label}
      name={key}
      type="number"
      {...bounds}
      value={values[key]}
      onChange={(value) => setValues({ ...values, [key]: value })}
    />
  );
  return (
    <Form
      name={t`Set budget`}
      submit={t`Set budget`}
      onSubmit={async () => {
        const [kind, id = ""] = splitOnce(subject);
        const budget: BudgetInput = {
          ...(kind === "user" && { user: id }),
          ...(kind === "group" && { group: id }),
          period,
          tokens: amount("tokens"),
          cost: amount("cost"),
          requests: amount("requests"),
          warnAt: Number(values.warnAt) / 100,
          onLimit,
        };
        await budgets.set(budget);
        onSet();
      }}
    >
      <ChoiceField
        label={t`Applies to`}
        value={subject}
        onChange={setSubject}
        options={[
          ["default", t`each account without its own`],
          ...(people.data ?? []).map(({ id, name }): [string, string] => [`user:${id}`, name]),
          ...(sets.data ?? [])
            .filter(({ name }) => name !== "everyone")
            .map(({ name }): [string, string] => [`group:${name}`, t`group ${name}, shared`]),
        ]}
      />
      <ChoiceField
        label={t`Per`}
        value={period}
        onChange={(value) => setPeriod(value as typeof period)}
        options={[
          ["day", t`day`],
          ["month", t`month`],
        ]}
      />
      {input("tokens", t`Tokens`, { isWhole: true })}
      {input("cost", `${t`Cost`} (${currency})`)}
      {input("requests", t`Requests`, { isWhole: true })}
      {input("warnAt", t`Warn at (%)`, { most: 100 })}
      <ChoiceField
        label={t`When used up`}
        value={onLimit}
        onChange={(value) => setOnLimit(value as OnBudgetLimit)}
        options={[
          ["wait", t`runs pause and ask`],
          ["refuse", t`runs fail`],
          ["warn", t`warn only`],
        ]}
      />
    </Form>
  );
}

function subjectOf(budget: BudgetView | undefined): string {
  if (budget?.user) return `user:${budget.user.id}`;
  return budget?.group ? `group:${budget.group}` : "default";
}

function splitOnce(text: string): readonly [string, string?] {
  const at = text.indexOf(":");
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
