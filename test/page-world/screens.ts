import type { Locator, Page } from "playwright-core";
import { newId } from "../../src/protocol/base/ids.ts";
import type { PageWorld } from "./page-world.ts";

/** A view in one of its states: where it is, and what is seen once it is there, in either language. */
export type Screen = {
  readonly view: string;
  readonly state: string;
  readonly path: (world: PageWorld) => string;
  readonly seen: (page: Page) => Locator;
  readonly who: "ada" | "fresh" | "nobody";
  /** What is done there before it is looked at. */
  readonly then?: (page: Page) => Promise<void>;
  /** The server says no, which a browser complains of. */
  readonly isRefused?: boolean;
};

type More = Partial<Pick<Screen, "who" | "then" | "isRefused">>;
type Threads = keyof PageWorld["threads"];

const log = (what: string | RegExp) => (page: Page) => page.getByRole("log").getByText(what);

const chat = (state: string, thread: Threads, seen: Screen["seen"], more: More = {}): Screen => ({
  view: "chat",
  state,
  path: ({ threads }) => `/chat/${threads[thread]}`,
  seen,
  who: "ada",
  ...more,
});
const at = (view: string, state: string, path: string, seen: Screen["seen"], more: More = {}): Screen => ({
  view,
  state,
  path: () => path,
  seen,
  who: "ada",
  ...more,
});
const admin = (section: string, seen: Screen["seen"], more: More & { query?: string; state?: string } = {}): Screen => {
  const { query = "", state = "filled", ...rest } = more;
  const path = section === "usage" ? "/admin" : `/admin/${section}`;
  return at("admin", `${section} ${state}`, path + query, seen, rest);
};

const run = (state: string, of: Threads, { rows }: { readonly rows: number }): Screen => ({
  ...at("runs", state, "", (page) =>
    page
      .getByRole("row")
      .or(page.getByRole("treeitem"))
      .nth(rows - 1),
  ),
  path: ({ runs }) => `/runs/${runs[of]}`,
});
/** The first one, with more of it in the address. */
const runWith = (state: string, seen: string, more: (world: PageWorld) => string): Screen => ({
  ...at("runs", state, "", (page) => page.locator(seen)),
  path: (world) => `/runs/${world.runs.tasks}?${more(world)}`,
});
const knowledge = (state: string, query: string, seen: Screen["seen"]): Screen => ({
  ...at("knowledge", state, "", seen),
  path({ collections, documents, trace }) {
    const what = query.endsWith("document=") ? documents["sidama-traders.md"] : query.endsWith("trace=") ? trace : "";
    return `/knowledge/${collections["Supplier contracts"]}${query}${what}`;
  },
});

const openLines = async (page: Page) => {
  const closed = page.locator("[role=log] details.tool-line:not([open]) > summary");
  while ((await closed.count()) > 0) await closed.first().click();
};

export const screens: readonly Screen[] = [
  at("login", "begin", "/login", (page) => page.getByRole("button").first(), { who: "nobody" }),
  at("login", "first start", "/setup", (page) => page.getByRole("heading"), { who: "nobody" }),
  at("login", "invited", "/signup", (page) => page.getByRole("heading"), { who: "nobody" }),
  at("login", "new password", "/reset", (page) => page.getByRole("heading"), { who: "nobody" }),

  at("chat", "empty", "/", (page) => page.getByRole("heading", { level: 1 }), { who: "fresh" }),
  at("chat", "begin", "/", (page) => page.getByRole("heading", { level: 1 })),
  chat("approval", "prices", (page) => page.getByRole("log").getByRole("cell", { name: "+ 294 €" })),
  chat("answered", "report", (page) => page.getByRole("log").locator("li", { hasText: "in August, when the van" })),
  chat("streaming", "streaming", log("We know each of our")),
  chat("failed", "failed", (page) => page.getByRole("alert")),
  chat("limit", "limit", (page) => page.getByRole("log").getByRole("button")),
  chat("unknown", "unknown", (page) => page.getByRole("log").locator(".button").nth(2)),
  chat("question", "question", (page) => page.getByRole("button", { name: "Chronopost" })),
  chat("plan", "plan", (page) => page.getByRole("log").locator("strong", { hasText: "four coffees" })),
  chat("plan at work", "planAtWork", log("Look up their prices")),
  chat("delegated", "delegated", (page) => page.getByRole("log").locator("strong", { hasText: "Mahl E2" })),
  chat("markdown", "markdown", (page) => page.getByRole("log").locator("pre code")),
  chat("tools open", "tasks", log("All three are on your list"), { then: openLines }),
  chat("stopped", "stopped", log("I begin with 2016")),
  chat("archived", "archived", log("the tin with the old labels")),
  chat("asked back", "archived", log("the tin with the old labels"), {
    then: async (page) => {
      await page.locator("#main header [aria-haspopup=menu]").click();
      await page.getByRole("menuitem").last().click();
      await page.getByRole("alertdialog").waitFor();
    },
  }),
  {
    ...at("chat", "gone", "/", (page) => page.getByRole("alert"), { isRefused: true }),
    path: () => `/chat/${newId()}`,
  },

  {
    ...at("shared", "filled", "", (page) => page.locator("li", { hasText: "in August, when the van" }), {
      who: "nobody",
    }),
    path: ({ shared }) => shared,
  },
  at("shared", "gone", `/shared/${"x".repeat(43)}`, (page) => page.getByRole("heading"), {
    who: "nobody",
    isRefused: true,
  }),

  at(
    "rooms",
    "empty",
    "/rooms",
    (page) => page.getByRole("main").getByRole("button", { name: "Create room", exact: true }),
    {
      who: "fresh",
    },
  ),
  at("rooms", "list", "/rooms", (page) => page.getByRole("main").getByRole("link", { name: /Third quarter/ })),
  {
    ...at("rooms", "filled", "", (page) => page.getByRole("log").locator("strong", { hasText: "31,750" })),
    path: ({ rooms }) => `/rooms/${rooms.analysis}`,
  },
  { ...at("rooms", "streaming", "", log("two parts Huila")), path: ({ rooms }) => `/rooms/${rooms.atWork}` },

  at("tasks", "filled", "/tasks", (page) => page.getByText("Order filters, size 4")),
  at("tasks", "empty", "/tasks", (page) => page.getByRole("main").getByRole("textbox"), { who: "fresh" }),

  at("runs", "list", "/runs", (page) => page.getByRole("row", { name: /planner/ })),
  at("runs", "empty", "/runs", (page) => page.getByRole("main").locator("p"), { who: "fresh" }),
  run("done", "delegated", { rows: 4 }),
  run("plan", "plan", { rows: 4 }),
  run("at work", "planAtWork", { rows: 4 }),
  run("waiting", "prices", { rows: 3 }),
  run("unknown", "unknown", { rows: 2 }),
  run("failed", "failed", { rows: 2 }),
  run("stopped", "stopped", { rows: 2 }),
  runWith("step", ".prompt-message", ({ runs }) => `row=${runs.tasks}/1`),
  runWith("compared", ".compare-text", ({ runs }) => `with=${runs.report}`),
  at("runs", "tool", "/runs?tool=calculate", (page) => page.getByRole("main").getByRole("textbox")),

  at("knowledge", "empty", "/knowledge", (page) => page.getByRole("main").locator(".button-main"), { who: "fresh" }),
  at("knowledge", "filled", "/knowledge", (page) => page.getByRole("row", { name: /Supplier contracts/ })),
  at("knowledge", "new", "/knowledge?new=1", (page) => page.getByRole("form").getByRole("textbox").first()),
  knowledge("documents", "", (page) => page.getByRole("row").nth(1)),
  knowledge("settings", "?show=settings", (page) => page.getByRole("form").nth(3)),
  {
    ...knowledge("passage", "", (page) => page.locator(".reader mark")),
    path: ({ collections, documents }) =>
      `/knowledge/${collections["Supplier contracts"]}?document=${Object.values(documents)[0]}&from=10&to=80`,
  },
  {
    ...at("knowledge", "answered", "/knowledge?show=ask", (page) =>
      page.getByRole("link", { name: "What does Yirgacheffe cost?" }).first(),
    ),
    then: async (page) => {
      await page.getByRole("link", { name: "What does Yirgacheffe cost?" }).first().click();
      await page.getByRole("main").getByRole("table").waitFor();
    },
  },
  knowledge("asked", "?trace=", (page) => page.getByText("sidama-traders.md")),
  knowledge("document", "?document=", (page) => page.getByText("may buy").or(page.getByText("What is supplied"))),
  knowledge("chunks", "?tab=chunks&document=", (page) => page.getByText("What is supplied")),

  ...["", "shortcuts", "access", "use", "account"].map((section) =>
    at("settings", section || "general", `/settings${section && "/"}${section}`, (page) =>
      section === "use"
        ? page.getByRole("row", { name: /large/ })
        : page.getByRole("main").getByRole("heading").or(page.getByRole("main").getByRole("table")),
    ),
  ),

  at("schedules", "filled", "/schedules", (page) => page.getByText("Which contracts end within")),
  at("schedules", "new", "/schedules?new=1", (page) => page.getByRole("status").filter({ hasText: "08:30" })),
  at("schedules", "empty", "/schedules", (page) => page.getByRole("main").locator("p.py-6"), { who: "fresh" }),
  at("taiga", "begin", "/taiga", (page) => page.locator("select:enabled")),

  admin("usage", (page) => page.getByRole("row", { name: /large/ })),
  admin("usage", (page) => page.getByRole("rowheader"), { state: "by time", query: "?by=time&days=7" }),
  admin("usage", (page) => page.getByRole("row", { name: /ben/ }), {
    state: "of a model",
    query: "?model=small&by=user",
  }),
  admin("models", (page) => page.getByRole("row", { name: /small/ })),
  admin("models", (page) => page.getByRole("region").getByRole("textbox").first(), { state: "new", query: "?new=1" }),
  admin("agents", (page) => page.getByRole("row", { name: /roaster/ })),
  admin("agents", (page) => page.getByRole("region").getByRole("textbox").first(), { state: "new", query: "?new=1" }),
  admin("mcp-servers", (page) => page.getByRole("row", { name: /shop/ })),
  admin("mcp-servers", (page) => page.getByRole("region").getByRole("textbox").first(), {
    state: "new",
    query: "?new=1",
  }),
  admin("runs", (page) => page.getByRole("row", { name: /planner/ })),
  admin("runs", (page) => page.getByRole("row", { name: /roaster/ }), { state: "waiting", query: "?status=waiting" }),
  admin("people", (page) => page.getByRole("row", { name: /dinesh/ })),
  {
    ...admin("people", (page) => page.getByRole("row", { name: /old phone/ }), { state: "keys" }),
    path: ({ people }) => `/admin/people?keys=${people.ben}`,
  },
  {
    ...admin("people", (page) => page.getByRole("region").getByRole("textbox"), { state: "erase" }),
    path: ({ people }) => `/admin/people?erase=${people.chloe}`,
  },
  admin("groups", (page) => page.getByRole("row", { name: /shop/ })),
  admin("groups", (page) => page.getByRole("region", { name: "shop" }).getByText("chloe"), {
    state: "edit",
    query: "?edit=shop",
  }),
  admin("budgets", (page) => page.getByRole("row", { name: /ada/ })),
  admin("retention", (page) =>
    page.getByRole("row", { name: /their runs and files|ihren Läufen und Dateien|تشغيلها وملفاتها/ }),
  ),
  admin("audit", (page) => page.getByRole("row").nth(3)),
  admin("audit", (page) => page.getByRole("main").locator("p.text-muted"), { state: "empty", query: "?user=nobody" }),
  admin("settings", (page) => page.getByRole("row", { name: /limits/ })),
  admin("doctor", (page) => page.getByRole("row").nth(2)),
];
