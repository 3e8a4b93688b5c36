import { createGuardedFetch } from "../../egress/guarded-fetch.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { type AccessOptions, createTaigaAccess, type TaigaAccess } from "./access.ts";
import { createTaigaClient } from "./client.ts";
import type { MarkerKind } from "./markers.ts";
import { createOpenWrites } from "./open-writes.ts";
import { createProjectChoices, type TaigaSessions } from "./project-choices.ts";
import { milestoneTools } from "./milestone-tools.ts";
import { readTools } from "./read-tools.ts";
import { workTools } from "./work-tools.ts";

export type TaigaOptions = Omit<AccessOptions, "client"> & {
  /** Of the server, with or without `/api/v1`; it may be in our own network. */
  readonly url: string;
  /** Where people look at it; the same host when absent. */
  readonly webUrl?: string | undefined;
  readonly marker: MarkerKind;
  readonly patience?: TaigaTimeouts;
};

export type TaigaTimeouts = {
  /** For the answer to a write. */
  readonly answerMs: number;
  /** Within it a write is done, or looked for; it is longer. */
  readonly writeMs: number;
};

export type Taiga = {
  readonly tools: readonly Tool[];
  /** Gives the rights that these tools need. */
  readonly access: TaigaAccess;
  readonly desk: TaigaSessions;
  readonly close: () => Promise<void>;
};

const usualPatience: TaigaTimeouts = { answerMs: 15_000, writeMs: 18_000 };

export function createTaiga({ url, webUrl, marker, patience = usualPatience, ...options }: TaigaOptions): Taiga {
  const { origin } = new URL(url);
  const { fetch, close } = createGuardedFetch({ origins: [origin], timeoutMs: patience.answerMs });
  const client = createTaigaClient(url, fetch);
  const access = createTaigaAccess({ ...options, client });
  const unanswered = createOpenWrites();
  const kit = {
    access,
    marker,
    unanswered,
    writeMs: patience.writeMs,
    webUrl: (webUrl ?? origin).replace(/(?<!\/)\/+$/, ""),
  };
  return {
    tools: [...readTools(kit), ...milestoneTools(kit), ...workTools(kit)],
    access,
    desk: createProjectChoices({ client, login: options.login }),
    close,
  };
}
