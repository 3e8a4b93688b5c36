import { t } from "@lingui/core/macro";

export const stateNames = {
  queued: t`queued`,
  running: t`running`,
  waiting: t`waiting`,
  done: t`done`,
  failed: t`failed`,
  cancelled: t`stopped`,
};

export const waitNames = {
  approval: t`for approval`,
  question: t`for an answer`,
  limit: t`at a limit`,
  unknown: t`for an outcome`,
  client: t`for client tool results`,
  provider: t`for the model`,
};
