import { z } from "zod";
import { entryPage, type EntryPage, pagePolicy } from "./entry-page.ts";
import { wordsFor } from "./page-words.ts";
import { accountsOf } from "../../requests/visitor.ts";
import { endpoint, type Endpoint } from "../../server/endpoint.ts";

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
    needs: "nothing",
    tag: "accounts",
    summary,
    open: () => true,
    answers: { 200: { description: "A page for people", content: { "text/html": { schema: z.string() } } } },
    handle({ request, reply, services }) {
      const { oidc, signup } = accountsOf(services);
      const wanted = wordsFor(request.headers["accept-language"]);
      reply.type("text/html; charset=utf-8").header("content-security-policy", pagePolicy);
      reply.header("vary", "accept-language");
      const isWayIn = page.logsIn && page.token !== "token";
      const links = oidc && isWayIn ? [{ href: "api/auth/oidc/login", text: oidc.label }] : [];
      if (page.says === "logIn" && signup === "open") links.push({ href: "signup", text: wanted.words.createAccount });
      if (page.says === "signUp") links.push({ href: "login", text: wanted.words.logIn.title });
      return entryPage(page, links, { signup, wanted });
    },
  });
}
