import { type Messages, setupI18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import "./offline.css";
import "../browser/theme.ts";
import { language } from "../browser/language.ts";

/** Those of all languages come with this page: no server can be asked for them while it is seen. */
const catalogues = import.meta.glob<{ readonly messages: Messages }>("../words/*/offline.po", { eager: true });
const { messages = {} } = catalogues[`../words/${language}/offline.po`] ?? {};
const i18n = setupI18n({ locale: language, messages: { [language]: messages } });
const base = new URL(document.baseURI).pathname;

/** What is seen while the server can't be reached: it is tried again until it can (service-worker.js). */
const heading = document.createElement("h1");
heading.className = "text-xl";
heading.textContent = i18n._(msg`Can't reach the server`);
const text = document.createElement("p");
text.textContent = i18n._(
  msg`The server may be restarting, or this device is offline. Retrying every few seconds; nothing you sent is lost.`,
);
const button = document.createElement("button");
button.className = "button-main";
button.textContent = i18n._(msg`Retry now`);
button.addEventListener("click", () => location.reload());
const frame = document.createElement("div");
frame.className = "mx-auto grid max-w-[34rem] justify-items-start gap-4 px-6 pt-[20dvh]";
frame.append(heading, text, button);
document.getElementById("page")?.append(frame);

setInterval(() => void look(), 3000);
addEventListener("online", () => void look());

async function look(): Promise<void> {
  if (document.visibilityState === "hidden") return;
  const answer = await fetch(`${base}health`).catch(() => undefined);
  if (answer?.ok) location.reload();
}
