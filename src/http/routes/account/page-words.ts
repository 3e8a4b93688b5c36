/** Texts of the login forms, in the page's languages. */
const en = {
  logIn: { title: "Log in", button: "Log in" },
  setUp: { title: "Create the first admin", button: "Create account" },
  signUp: { title: "Create an account", button: "Create account" },
  reset: { title: "Set a new password", button: "Set password" },
  name: "Name",
  password: "Password",
  hint: "At least 8 characters",
  createAccount: "Create an account",
  noAccountYet:
    "No account yet? Ask an admin of this server for one. The link for the first admin is printed where the server was started.",
  invitationNeeded: "To create an account, open the invitation link you were sent.",
  signUpClosed: "This server doesn't accept new accounts. Ask an admin for one.",
  noToken: "This link is incomplete. Copy the whole link you were sent.",
  noServer: "Can't reach the server.",
  noScript: (post: string, docs: string) =>
    `This page needs JavaScript. Without it, POST JSON to ${post}; see ${docs}.`,
  docs: "the API",
};
export type PageWords = typeof en;

const de: PageWords = {
  logIn: { title: "Anmelden", button: "Anmelden" },
  setUp: { title: "Das erste Konto", button: "Konto anlegen" },
  signUp: { title: "Neues Konto", button: "Konto anlegen" },
  reset: { title: "Neues Passwort", button: "Passwort setzen" },
  name: "Name",
  password: "Passwort",
  hint: "Mindestens 8 Zeichen",
  createAccount: "Konto anlegen",
  noAccountYet:
    "Noch kein Konto? Bitten Sie einen Admin dieses Servers um eines. Der Link für den ersten Admin steht dort, wo der Server gestartet wurde.",
  invitationNeeded: "Um ein Konto anzulegen, öffnen Sie den Einladungslink, den Sie bekommen haben.",
  signUpClosed: "Dieser Server nimmt keine neuen Konten an. Fragen Sie einen Admin danach.",
  noToken: "Der Link ist nicht vollständig: Es fehlt, was hinter dem # steht.",
  noServer: "Der Server ist nicht erreichbar.",
  noScript: (post, docs) => `Diese Seite braucht JavaScript. Ohne: JSON mit POST an ${post}, siehe ${docs}.`,
  docs: "die API",
};

/** As the page itself chooses: by what a browser wants first. */
export function wordsFor(wanted = ""): { readonly language: "en" | "de"; readonly words: PageWords } {
  const language = /^\s*de\b/i.test(wanted) ? "de" : "en";
  return { language, words: { en, de }[language] };
}
