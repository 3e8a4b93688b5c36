import { z } from "zod";
import { meSchema, type MeView, ownUserSchema } from "../../../protocol/people/accounts.ts";
import { isAsker } from "../../../protocol/base/callers.ts";
import type { AccountLogin } from "../../../people/accounts.ts";
import { cookieHeader } from "../../server/cookies.ts";
import { nameSchema } from "../../shapes/accounts.ts";
import { accountsOf, loginsOf, visitorOf } from "../../requests/visitor.ts";
import { checkPage, sessionCookie } from "../../server/auth.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { publicAddressOf } from "../../server/origins.ts";

const passwordSchema = z.string().max(1000).describe("At least 8 characters, at most 72 bytes in UTF-8");
const cookie = z
  .boolean()
  .optional()
  .describe("For pages: the token goes into a cookie that no script reads, instead of the answer");

const loginSchema = z.object({
  access_token: z.string().optional().describe("Send it as `Authorization: Bearer …`; absent with `cookie`"),
  token_type: z.literal("bearer").optional(),
  expires_in: z.int().describe("Seconds"),
  user: ownUserSchema,
});

export const authSettings = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "How one logs in here",
  open: () => true,
  answers: {
    200: z.object({
      mode: z.enum(["local", "accounts"]).describe("local: no login"),
      signup: z.enum(["open", "invite", "closed"]),
      oidc: z.object({ label: z.string() }).nullable(),
    }),
  },
  handle({ services: { access } }) {
    const { signup, oidc } = (access.mode === "accounts" && access.accounts) || {};
    return { mode: access.mode, signup: signup ?? "closed", oidc: oidc ? { label: oidc.label } : null };
  },
});

export const setUp = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Make the first admin, with the link that the first start printed",
  open: () => true,
  body: z.strictObject({ token: z.string().max(200), username: nameSchema, password: passwordSchema, cookie }),
  answers: { 201: loginSchema },
  async handle(call) {
    const { token, username, password } = call.body;
    checkCookieWish(call);
    const login = await accountsOf(call.services).setUp({ token, name: username, password }, visitorOf(call));
    call.reply.code(201);
    return answer(call, login);
  },
});

export const signUp = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Make an account for yourself",
  description: "As `auth.signup` allows: for everybody, or with an invitation.",
  open: () => true,
  body: z.strictObject({
    username: nameSchema,
    password: passwordSchema,
    invite: z.string().max(200).optional(),
    cookie,
  }),
  answers: { 201: loginSchema },
  async handle(call) {
    const { username, password, invite } = call.body;
    checkCookieWish(call);
    const login = await accountsOf(call.services).signUp({ name: username, password, invite }, visitorOf(call));
    call.reply.code(201);
    return answer(call, login);
  },
});

export const logIn = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Log in with name and password",
  description: "Also as a form, as OAuth2 clients with the password grant send it. After several failures: 429.",
  open: () => true,
  takesForm: true,
  body: z.object({
    username: z
      .string()
      .max(256)
      .transform((text) => text.normalize("NFC")),
    password: z.string().max(1000),
    cookie,
  }),
  answers: { 200: loginSchema },
  async handle(call) {
    const { username, password } = call.body;
    checkCookieWish(call);
    return answer(call, await accountsOf(call.services).logIn({ name: username, password }, visitorOf(call)));
  },
});

export const logOut = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Log out",
  description: "The token counts no more, here at once and on other nodes within 30 seconds. An API key stays.",
  answers: { 204: z.null() },
  async handle({ services, caller, sessionId, request, reply }) {
    if (sessionId !== undefined) await loginsOf(services).endSession(caller.userId, sessionId);
    reply.header("set-cookie", sessionCookieOf({ request }, "", 0)).code(204);
  },
});

export const me = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Get your account and permissions",
  answers: { 200: meSchema },
  async handle({ caller, services }): Promise<MeView> {
    const groups = services.access.mode === "local" ? [] : await services.users.groupsOf(caller.userId);
    const { userId: id, name: username, role, permissions, via } = caller;
    return { id, username, role, permissions, groups, via, asksOnly: isAsker(caller) };
  },
});

export const changePassword = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Change your password",
  description: "All your other logins end; API keys stay.",
  body: z.strictObject({ current: z.string().max(1000), password: passwordSchema }),
  answers: { 204: z.null() },
  async handle(call) {
    const { caller, sessionId, body, services, reply } = call;
    const user = { id: caller.userId, name: caller.name };
    await accountsOf(services).changePassword({ ...body, user, sessionId }, visitorOf(call));
    reply.code(204);
  },
});

export const resetPassword = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Set a new password, with a link that an admin gave you",
  description: "All your logins end; API keys stay.",
  open: () => true,
  body: z.strictObject({ token: z.string().max(200), password: passwordSchema }),
  answers: { 204: z.null() },
  async handle(call) {
    await accountsOf(call.services).resetPassword(call.body, visitorOf(call));
    call.reply.code(204);
  },
});

type CookieCall = EndpointCall<unknown, unknown, { readonly cookie?: boolean | undefined }>;

/** Before anything is done: another site must not log people in as somebody else. */
function checkCookieWish({ body, request, services }: CookieCall): void {
  if (body.cookie) checkPage(request, services.server.corsOrigins);
}

/** The login as the answer; with `cookie` as one. */
function answer(call: CookieCall, login: AccountLogin): z.infer<typeof loginSchema> {
  const { id, name: username, role } = login.user;
  call.reply.header("cache-control", "no-store");
  const expiresIn = Math.round((login.expiresAt.getTime() - Date.now()) / 1000);
  const shared = { expires_in: expiresIn, user: { id, username, role } };
  if (!call.body.cookie) return { access_token: login.token, token_type: "bearer", ...shared };
  call.reply.header("set-cookie", sessionCookieOf(call, login.token, expiresIn));
  return shared;
}

/** `Secure` where the browser came by TLS, as far as a trusted proxy or the configuration tells. */
export function sessionCookieOf(
  { request }: Pick<EndpointCall, "request">,
  token: string,
  maxAgeSeconds: number,
): string {
  const { publicUrl, basePath } = publicAddressOf(request);
  const secure = request.protocol === "https" || publicUrl?.startsWith("https:") === true;
  return cookieHeader(sessionCookie, token, { path: basePath || "/", secure, maxAgeSeconds });
}
