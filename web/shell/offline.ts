import "./offline.css";
import "../browser/theme.ts";
import { language } from "../browser/language.ts";
import { de } from "../words/de-offline.ts";
import { en } from "../words/en-offline.ts";

/** What is seen while the server can't be reached: it is tried again until it can (service-worker.js). */
const words = { en, de }[language];
const base = new URL(document.baseURI).pathname;

const heading = document.createElement("h1");
heading.className = "text-xl";
heading.textContent = words.title;
const text = document.createElement("p");
text.textContent = words.text;
const button = document.createElement("button");
button.className = "button-main";
button.textContent = words.again;
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
