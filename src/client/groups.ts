import type { InviteView, GroupView, MemberView, MadeInvite } from "../protocol/people/accounts.ts";
import type { Role } from "../protocol/base/callers.ts";
import { ask, type ClientRequest, askJson, askList, type ServerAccess } from "./request.ts";

/** Groups, their members and permissions, and invitations. Admins only. */
export type GroupClient = {
  list(signal?: AbortSignal): Promise<readonly GroupView[]>;
  save(name: string, permissions: readonly string[], signal?: AbortSignal): Promise<void>;
  remove(name: string, signal?: AbortSignal): Promise<void>;
  members(name: string, signal?: AbortSignal): Promise<readonly MemberView[]>;
  addMember(name: string, userId: string, signal?: AbortSignal): Promise<void>;
  removeMember(name: string, userId: string, signal?: AbortSignal): Promise<void>;
  invites(signal?: AbortSignal): Promise<readonly InviteView[]>;
  /** Creates an invitation; its `url` is returned only here. */
  invite(
    input: { readonly role: Role; readonly groups?: readonly string[]; readonly days?: number },
    signal?: AbortSignal,
  ): Promise<MadeInvite>;
  withdrawInvite(id: string, signal?: AbortSignal): Promise<void>;
};

export function createGroupClient(server: ServerAccess): GroupClient {
  const at = (name: string) => `/api/admin/groups/${encodeURIComponent(name)}`;
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, path, { signal });
  const send = async (path: string, asking: ClientRequest) => void (await ask(server, path, asking));
  return {
    list: (signal) => list("/api/admin/groups", signal),
    save: (name, permissions, signal) => send(at(name), { method: "PUT", body: { permissions }, signal }),
    remove: (name, signal) => send(at(name), { method: "DELETE", signal }),
    members: (name, signal) => list(`${at(name)}/members`, signal),
    addMember: (name, userId, signal) => send(`${at(name)}/members/${userId}`, { method: "PUT", signal }),
    removeMember: (name, userId, signal) => send(`${at(name)}/members/${userId}`, { method: "DELETE", signal }),
    invites: (signal) => list("/api/admin/invites", signal),
    invite: (body, signal) => askJson(server, "/api/admin/invites", { method: "POST", body, signal }),
    withdrawInvite: (id, signal) => send(`/api/admin/invites/${id}`, { method: "DELETE", signal }),
  };
}
