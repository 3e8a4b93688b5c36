/** What is done about times that passed while no server ran: nothing, or one run for all of them. */
export const missedPolicies = ["skip", "once"] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** An agent runs a prompt in a thread at set times. */
export type ScheduleRecord = {
  readonly id: string;
  readonly userId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly prompt: string;
  /** Five fields, read in `timeZone`. */
  readonly cron: string;
  /** IANA. */
  readonly timeZone: string;
  readonly missed: MissedPolicy;
  readonly enabled: boolean;
  /** When it is due next; null while it is disabled. */
  readonly next: string | null;
  readonly lastRun: string | null;
  /** Why the last time started no run. */
  readonly lastError: string | null;
  readonly createdAt: string;
};
