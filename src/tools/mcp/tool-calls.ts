import {
  type CallToolRequest,
  type Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from "@modelcontextprotocol/client";
import { messageOf } from "../../protocol/base/errors.ts";
import { timeOut } from "./failures.ts";
import type { DirectCalls } from "./direct-calls.ts";

export type CallProgress = { readonly progress: number; readonly total?: number; readonly message?: string };

export type CallRequest = {
  /** As the protocol has them; what goes along with each request is added. */
  readonly params: CallToolRequest["params"];
  readonly timeoutMs: number;
  readonly onprogress: (progress: CallProgress) => void;
};

/** A call that a server is asked to do. */
export type ToolCall = {
  /** The server's result as it is. Rejects with what `failureOf` understands, or with the reason of `cancel`. */
  readonly answer: Promise<object>;
  /** Tells the server, and lets go of the connection. */
  readonly cancel: (reason: unknown) => void;
  /** The time of the call does not run until `goOn`. */
  readonly hold: () => void;
  readonly goOn: () => void;
  /** Nobody waits for it any more, so `answer` has rejected. */
  readonly wasCancelled: boolean;
};

export type ToolCallsOptions = {
  readonly client: Client;
  readonly transport: Transport;
  readonly about: { readonly name: string; readonly version: string };
  readonly capabilities: ClientCapabilities;
  /** Past the transport; absent where there is none. */
  readonly shortWay?: DirectCalls | undefined;
};

/** The client counts its own requests from 0 on. */
const firstId = 2 ** 30;

/**
 * The calls of one client. They are not made by the client's own `request`, whose checks of what a server answers cost more
 * than the call; all else of the protocol stays the client's.
 */
export class ToolCalls {
  private readonly options: ToolCallsOptions;
  private readonly calls = new Map<number, OpenCall>();
  /** Whoever listened before the client. */
  private readonly watcher: Transport["onmessage"];
  private lastId = firstId;
  private meta: Readonly<Record<string, unknown>> | undefined;

  /** Before the client is connected. */
  constructor(options: ToolCallsOptions) {
    this.options = options;
    const { transport } = options;
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      const reason = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
      for (const call of this.calls.values()) {
        call.fail(reason);
        call.stop?.(reason);
      }
    };
    this.watcher = transport.onmessage;
  }

  /** Takes what is meant for its calls before the client sees it; once the client is connected. */
  connected(): void {
    const { client, transport, about, capabilities } = this.options;
    const onward = transport.onmessage;
    transport.onmessage = (message: JSONRPCMessage, extra) => {
      const heard = this.hear(message) ? this.watcher : onward;
      heard?.(message, extra);
    };
    if (client.getProtocolEra() === "modern")
      this.meta = {
        [PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
        [CLIENT_INFO_META_KEY]: about,
        [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      };
  }

  begin({ params, timeoutMs, onprogress }: CallRequest): ToolCall {
    const id = this.lastId++;
    const message: JSONRPCRequest = {
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { ...params, _meta: { ...this.meta, ...params._meta, progressToken: id } },
    };
    const call = new OpenCall(timeoutMs, onprogress, {
      cancelled: (reason) => this.tellCancelled(call, id, reason),
      done: () => void this.calls.delete(id),
    });
    this.calls.set(id, call);
    this.send(message, call).catch((error: unknown) => call.fail(error));
    return call;
  }

  private async send(message: JSONRPCRequest, call: OpenCall): Promise<void> {
    const { transport, shortWay } = this.options;
    if (shortWay?.takes(message)) {
      const result = await shortWay.ask(message, call);
      if (result) return call.succeed(result);
      if (call.isDone) return void shortWay.forget(message);
    }
    const stop = new AbortController();
    call.stop = (reason) => stop.abort(reason);
    try {
      await transport.send(message, this.hasOwnStream ? { requestSignal: stop.signal } : {});
    } catch (error) {
      const status = shortWay?.forget(message);
      if (status === undefined || isRefusal(status)) throw error;
      // The server does it or has done it, whatever kept its answer from being read.
      const reason = `its answer could not be read: ${messageOf(error)}`;
      throw new SdkError(SdkErrorCode.ConnectionClosed, reason, undefined, { cause: error });
    }
    shortWay?.forget(message);
  }

  /** In the newer protocol over HTTP the end of its stream is what cancels a request. */
  private get hasOwnStream(): boolean {
    return this.meta !== undefined && this.options.transport.hasPerRequestStream === true;
  }

  private tellCancelled(call: OpenCall, requestId: number, reason: unknown): void {
    if (this.hasOwnStream) return call.stop?.(reason);
    const params = { requestId, reason: String(reason), ...(this.meta && { _meta: this.meta }) };
    this.options.transport
      .send({ jsonrpc: "2.0", method: "notifications/cancelled", params })
      .catch(() => {})
      .finally(() => call.stop?.(reason));
  }

  /** Whether it was meant for a call of these. */
  private hear(message: JSONRPCMessage): boolean {
    if ("method" in message) {
      if (message.method !== "notifications/progress") return false;
      const { progressToken, ...progress } = message.params ?? {};
      const call = this.calls.get(Number(progressToken));
      call?.progress(progress);
      return call !== undefined;
    }
    const call = this.calls.get(Number(message.id));
    if ("result" in message) call?.succeed(message.result);
    else call?.fail(ProtocolError.fromError(message.error.code, message.error.message, message.error.data));
    return call !== undefined;
  }
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

type CallHooks = { readonly cancelled: (reason: unknown) => void; readonly done: () => void };

export class OpenCall implements ToolCall {
  readonly answer: Promise<object>;
  isDone = false;
  wasCancelled = false;
  /** Lets go of the connection. */
  stop: ((reason: unknown) => void) | undefined;
  private readonly timeoutMs: number;
  private readonly onprogress: CallRequest["onprogress"];
  private readonly hooks: CallHooks;
  private readonly resolve: (result: object) => void;
  private readonly reject: (error: unknown) => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number, onprogress: CallRequest["onprogress"], hooks: CallHooks) {
    const { promise, resolve, reject } = Promise.withResolvers<object>();
    this.answer = promise;
    this.resolve = resolve;
    this.reject = reject;
    this.timeoutMs = timeoutMs;
    this.onprogress = onprogress;
    this.hooks = hooks;
    this.goOn();
  }

  readonly hold = (): void => clearTimeout(this.timer);

  readonly goOn = (): void => {
    if (!this.isDone) this.timer = setTimeout(() => this.giveUp(timeOut()), this.timeoutMs);
  };

  readonly cancel = (reason: unknown): void => {
    if (this.isDone) return;
    this.wasCancelled = true;
    this.giveUp(reason);
  };

  private giveUp(reason: unknown): void {
    this.fail(reason);
    this.hooks.cancelled(reason);
  }

  succeed(result: object): void {
    this.end();
    this.resolve(result);
  }

  fail(error: unknown): void {
    this.end();
    this.reject(error);
  }

  progress({ progress, total, message }: { readonly [key: string]: unknown }): void {
    if (typeof progress !== "number") return;
    this.onprogress({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  }

  private end(): void {
    this.isDone = true;
    clearTimeout(this.timer);
    this.hooks.done();
  }
}
