/**
 * What steps at work have reserved of their tree's limits, by run and reservation: settled with their answers, and given back by
 * whoever takes a run over from a process that died.
 */
export const unsettledReservations = {
  name: "0025-unsettled-reservations",
  up: `alter table budgets add column unsettled jsonb not null default '{}';`,
} as const;
