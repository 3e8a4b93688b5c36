import { Agent, type buildConnector } from "undici";

/** Makes connections, and refuses those to where nothing may be asked. */
export type Connector = buildConnector.connector;

const connectTimeoutMs = 120_000;

/** HTTP/1.1 only: there the end of a request is the end of its socket, and every model server stops working. */
export function createModelAgent(connect: Connector | undefined): Agent {
  return new Agent({
    allowH2: false,
    connect: connect ?? { timeout: connectTimeoutMs },
    keepAliveTimeout: 30_000,
  });
}
