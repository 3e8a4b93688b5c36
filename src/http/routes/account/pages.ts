import { z } from "zod";
import { entryPage, type EntryPage, pagePolicy } from "../accounts/pages.ts";
import { wordsFor } from "../accounts/page-words.ts";
import { accountsOf } from "../accounts/visitor.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";

const home = "./";

export const logInPage = pageOf("Log in", {
  says: "logIn",
  post: "api/auth/login",
  fields: ["username", "password"],
  logsIn: true,
  next: home,
});

export const setUpPage = pageOf("The form behind the link of the first start", {
  says: "setUp",
  post: "api/auth/setup",
  fields: ["username", "new-password"],
  token: "token",
  logsIn: true,
  next: home,
});

export const signUpPage = pageOf("Make an account, with an invitation where one is needed", {
  says: "signUp",
  post: "api/auth/signup",
  fields: ["username", "new-password"],
  token: "invite",
  logsIn: true,
  next: home,
});

export const resetPage = pageOf("The form behind a link to set a new password", {
  says: "reset",
  post: "api/auth/reset",
  fields: ["new-password"],
  token: "token",
  logsIn: false,
  next: "login",
});

function pageOf(summary: string, page: EntryPage): Endpoint {
  return endpoint({
    tag: "accounts",
    summary,
    open: () => true,
    answers: { 200: { description: "A page for people", content: { "text/html": { schema: z.string() } } } },
    handle({ request, reply, services }) {
      const { oidc } = accountsOf(services);
      reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy);
      reply.header("vary", "accept-language");
      const isWayIn = page.logsIn && page.token !== "token";
      const links = oidc && isWayIn ? [{ href: "api/auth/oidc/login", text: oidc.label }] : [];
      return entryPage(page, links, wordsFor(request.headers["accept-language"]));
    },
  });
}
