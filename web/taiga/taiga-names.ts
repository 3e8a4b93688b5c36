import { t } from "@lingui/core/macro";

export const kindNames = { user_story: t`story`, task: t`task` };

export const verbNames = { create: t`New`, update: t`Change`, delete: t`Delete` };

export const statusNames = {
  queued: t`queued`,
  running: t`running`,
  waiting: t`needs your input`,
  done: t`done`,
  failed: t`failed`,
  cancelled: t`stopped`,
};
