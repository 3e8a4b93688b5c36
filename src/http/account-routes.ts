import type { EndpointRoute } from "./server/endpoint.ts";
import {
  authSettings,
  changePassword,
  logIn,
  logOut,
  me,
  resetPassword,
  setUp,
  signUp,
} from "./routes/account/auth.ts";
import { addOwnKey, changeOwnKey, listOwnKeys, revokeOwnKey } from "./routes/account/keys.ts";
import { beginOidc, connectOidc, finishOidc } from "./routes/account/oidc.ts";
import { logInPage, resetPage, setUpPage, signUpPage } from "./routes/account/pages.ts";
import { endLogin, endOtherLogins, listLogins } from "./routes/account/logins.ts";
import { logInByCode, makeOpenCode } from "./routes/account/open.ts";
import { addMember, deleteGroup, listGroups, listMembers, removeMember, saveGroup } from "./routes/admin/groups.ts";
import { addKey, addUser, changeUser, listKeys, listUsers, revokeKey } from "./routes/admin/users.ts";
import { invite, listInvites, logUserOut, resetUser, withdrawInvite } from "./routes/admin/user-links.ts";

/** How people come in, and what admins do with accounts. */
export const accountRoutes: readonly EndpointRoute[] = [
  ["GET", "/login", logInPage],
  ["GET", "/setup", setUpPage],
  ["GET", "/signup", signUpPage],
  ["GET", "/reset", resetPage],

  ["GET", "/api/auth/settings", authSettings],
  ["POST", "/api/auth/setup", setUp],
  ["POST", "/api/auth/signup", signUp],
  ["POST", "/api/auth/login", logIn],
  ["POST", "/api/auth/logout", logOut],
  ["GET", "/api/auth/me", me],
  ["POST", "/api/auth/open-codes", makeOpenCode],
  ["POST", "/api/auth/open", logInByCode],
  ["POST", "/api/auth/password", changePassword],
  ["POST", "/api/auth/reset", resetPassword],
  ["GET", "/api/auth/sessions", listLogins],
  ["DELETE", "/api/auth/sessions", endOtherLogins],
  ["DELETE", "/api/auth/sessions/:id", endLogin],
  ["GET", "/api/auth/keys", listOwnKeys],
  ["POST", "/api/auth/keys", addOwnKey],
  ["PATCH", "/api/auth/keys/:id", changeOwnKey],
  ["DELETE", "/api/auth/keys/:id", revokeOwnKey],
  ["GET", "/api/auth/oidc/login", beginOidc],
  ["POST", "/api/auth/oidc/connect", connectOidc],
  ["GET", "/api/auth/oidc/callback", finishOidc],

  ["GET", "/api/admin/users", listUsers],
  ["POST", "/api/admin/users", addUser],
  ["PATCH", "/api/admin/users/:id", changeUser],
  ["POST", "/api/admin/users/:id/reset", resetUser],
  ["DELETE", "/api/admin/users/:id/sessions", logUserOut],
  ["GET", "/api/admin/users/:id/keys", listKeys],
  ["POST", "/api/admin/users/:id/keys", addKey],
  ["DELETE", "/api/admin/keys/:id", revokeKey],
  ["GET", "/api/admin/invites", listInvites],
  ["POST", "/api/admin/invites", invite],
  ["DELETE", "/api/admin/invites/:id", withdrawInvite],
  ["GET", "/api/admin/groups", listGroups],
  ["PUT", "/api/admin/groups/:name", saveGroup],
  ["DELETE", "/api/admin/groups/:name", deleteGroup],
  ["GET", "/api/admin/groups/:name/members", listMembers],
  ["PUT", "/api/admin/groups/:name/members/:id", addMember],
  ["DELETE", "/api/admin/groups/:name/members/:id", removeMember],
];
