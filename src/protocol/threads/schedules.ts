/** What is done about times that passed while no server ran: nothing, or one run for all of them. */
export const missedPolicies = ["skip", "once"] as const;
export type MissedPolicy = (typeof missedPolicies)[number];
