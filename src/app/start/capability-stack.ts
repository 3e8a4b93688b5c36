import type { EndpointRoute } from "../../http/server/endpoint.ts";
import type { HealthDetails, Services } from "../../http/server/services.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Finding } from "../../protocol/people/overview.ts";

/** An open part of the server. These members are for the server as a whole; a part adds what other parts need. */
export type Capability = {
  /** Services for the handlers in `all-routes.ts`. */
  readonly services?: Partial<Services>;
  /** Additional routes, after those of `all-routes.ts`. */
  readonly routes?: readonly EndpointRoute[];
  /** Findings for `colloquy doctor`; with `all` of every row. */
  readonly findings?: (options: { readonly all: boolean }) => readonly Finding[] | Promise<readonly Finding[]>;
  /** Entries for `GET /health?verbose`. */
  readonly health?: () => HealthDetails;
  /** Stops background work and waits for it. */
  readonly close?: () => Promise<unknown> | void;
};

/** Collects open parts and closes them in reverse order, unless `done` was called. A failing close is logged; the others still close. */
export type CapabilityStack = AsyncDisposable & {
  /** Adds an open part, and returns it. */
  readonly add: <Part extends Capability>(part: Part) => Part;
  /** Returns `first`, followed by all other parts in the order of opening. */
  readonly partsFrom: (first: readonly Capability[]) => readonly Capability[];
  /** Marks the start as complete. Returns a function that closes everything, once. */
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

/** Yields the doctor findings of all parts, one part after the other. */
export async function findingsOf(
  parts: readonly Capability[],
  options: { readonly all: boolean },
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const part of parts) findings.push(...((await part.findings?.(options)) ?? []));
  return findings;
}

export function healthOf(parts: readonly Capability[]): HealthDetails {
  return Object.assign({}, ...parts.map((part) => part.health?.()));
}
