import type { EndpointRoute } from "../../http/server/endpoint.ts";
import type { HealthDetails, Services } from "../../http/server/services.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Finding } from "../../protocol/people/overview.ts";

/** A part of the server that is open. What other parts need of it stands beside these, which the server as a whole takes. */
export type Capability = {
  /** What the routes of `all-routes.ts` are handed of it. */
  readonly services?: Partial<Services>;
  /** Routes of its own, behind those. */
  readonly routes?: readonly EndpointRoute[];
  /** What `colloquy doctor` says of it. */
  readonly findings?: () => readonly Finding[] | Promise<readonly Finding[]>;
  /** What `GET /health?verbose` says of it. */
  readonly health?: () => HealthDetails;
  /** Ends what goes on by itself, and waits for it. */
  readonly close?: () => Promise<unknown> | void;
};

/** Closes what was added, the last first, unless `done` was called. One that fails to close is logged, and keeps no other from it. */
export type CapabilityStack = AsyncDisposable & {
  /** Takes a part that is open, and returns it. */
  readonly add: <Part extends Capability>(part: Part) => Part;
  /** These, and behind them all others in the order of opening. */
  readonly partsFrom: (first: readonly Capability[]) => readonly Capability[];
  /** All is open. Returns how to close it; called again, that does nothing. */
  readonly done: () => () => Promise<void>;
};

/** For a function that opens several parts: `await using opening = createCapabilityStack(log)`. */
export function createCapabilityStack(log: Log): CapabilityStack {
  const stack = new AsyncDisposableStack();
  const parts: Capability[] = [];
  return {
    partsFrom: (first) => [...new Set([...first, ...parts])],
    add(part) {
      parts.push(part);
      stack.defer(async () => {
        try {
          await part.close?.();
        } catch (error) {
          log.warn({ error: messageOf(error) }, "could not close everything");
        }
      });
      return part;
    },
    done() {
      const opened = stack.move();
      return () => opened.disposeAsync();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** What the parts say for doctor, one after the other. */
export async function findingsOf(parts: readonly Capability[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const part of parts) findings.push(...((await part.findings?.()) ?? []));
  return findings;
}

export function healthOf(parts: readonly Capability[]): HealthDetails {
  return Object.assign({}, ...parts.map((part) => part.health?.()));
}
