import { z } from "zod";
import { entryPage, type EntryPage, pagePolicy } from "../accounts/pages.ts";
import { accountsOf } from "../accounts/visitor.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";

const home = "./";

export const logInPage = pageOf("Log in", {
  title: "Log in",
  post: "api/auth/login",
  button: "Log in",
  fields: ["username", "password"],
  logsIn: true,
  next: home,
});

export const setUpPage = pageOf("The form behind the link of the first start", {
  title: "The first admin",
  post: "api/auth/setup",
  button: "Make the account",
  fields: ["username", "new-password"],
  token: "token",
  logsIn: true,
  next: home,
});

export const signUpPage = pageOf("Make an account, with an invitation where one is needed", {
  title: "A new account",
  post: "api/auth/signup",
  button: "Make the account",
  fields: ["username", "new-password"],
  token: "invite",
  logsIn: true,
  next: home,
});

export const resetPage = pageOf("The form behind a link to set a new password", {
  title: "A new password",
  post: "api/auth/reset",
  button: "Set the password",
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
    handle({ reply, services }) {
      const { oidc } = accountsOf(services);
      reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy);
      const isWayIn = page.logsIn && page.token !== "token";
      return entryPage(page, oidc && isWayIn ? [{ href: "api/auth/oidc/login", text: oidc.label }] : []);
    },
  });
}
