import { t } from "@lingui/core/macro";

export const wakeNames = { always: t`always listening`, mention: t`when mentioned` };
