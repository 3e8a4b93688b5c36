import {
  type AutocompleteItem,
  type AutocompleteProvider,
  Container,
  Editor,
  matchesKey,
  ProcessTerminal,
  Text,
  TuiMainScreen,
  type Component,
  type Terminal,
} from "@earendil-works/pi-tui";
import type { Client } from "../client/client.ts";
import type { ConversationBlock } from "../client/conversation.ts";
import { createChat, type Chat } from "./chat.ts";
import { type Colours, printable } from "./colours.ts";
import { commands, runCommand } from "./commands.ts";
import { bannerOf, isAlreadyShown, resultLine } from "./lines.ts";
import { isOwn, type ChatPlace } from "./chat-place.ts";
import { createBlockView, type BlockView } from "./screen-blocks.ts";

export type ScreenOptions = { readonly place: ChatPlace; readonly version: string; readonly colours: Colours };

/** Within this, a second Ctrl+C leaves. */
const againMs = 2000;
const tickMs = 1000;

/** A conversation on a terminal: what has scrolled away is never drawn again. Resolves when the person leaves. */
export async function showScreen(client: Client, { place: first, version, colours }: ScreenOptions): Promise<void> {
  const left = Promise.withResolvers<void>();
  const tui = new TuiMainScreen(scrollbackKept(new ProcessTerminal()));
  const status = new Text("", 0, 0);
  const editor = createEditor(tui, colours);
  const page = createPage(() => tui.terminal.rows);
  let views = new Map<string, BlockView>();
  let before: ConversationBlock | undefined;
  let interruptedAt = 0;

  const chat = createChat(client, {
    place: first,
    runCommand,
    // Whoever sits here sees that it is away, and leaves when they like.
    patienceMs: Infinity,
    onQuit: () => left.resolve(),
    display: {
      show(blocks) {
        for (const block of blocks) {
          const isTold = isAlreadyShown(block, before);
          before = block;
          if (isTold) continue;
          const known = views.get(block.key);
          // Text that was withdrawn stays where it stands; what is told anew stands below.
          if (known?.set(block) === true) continue;
          const view = createBlockView(chat.place, colours);
          view.set(block);
          views.set(block.key, view);
          page.add(view.component);
          if (block.kind === "message" && block.role === "user" && isOwn(chat.place(), block))
            editor.addToHistory(printable(block.text));
        }
        refresh();
      },
      note(text) {
        page.add(new Text(`\n${text}`, 0, 0));
        refresh();
      },
      begin(place) {
        views = new Map();
        page.add(new Text(bannerOf(place, version), 0, 0));
        editor.setAutocompleteProvider(completions(() => chat.place()));
        refresh();
      },
      edit: (text) => editor.setText(printable(text)),
    },
  });

  function refresh(): void {
    status.setText(statusLine(chat, colours, Date.now()));
    tui.requestRender();
  }

  function leave(): void {
    if (Date.now() - interruptedAt < againMs) return left.resolve();
    interruptedAt = Date.now();
    chat.note("Press Ctrl+C again to quit; runs continue.");
  }

  async function onInterrupt(): Promise<void> {
    if (await chat.interrupt()) return;
    if (editor.getText() === "") return leave();
    editor.setText("");
    refresh();
  }

  editor.onSubmit = (text) => {
    void chat.submit(text).then(refresh);
  };
  tui.addInputListener((data) => {
    if (matchesKey(data, "ctrl+c")) {
      onInterrupt().catch((error: unknown) => chat.note(String(error)));
      return { consume: true };
    }
    if (matchesKey(data, "escape") && !editor.isShowingAutocomplete() && chat.conversation().working().size > 0) {
      chat.interrupt().catch((error: unknown) => chat.note(String(error)));
      return { consume: true };
    }
    if (matchesKey(data, "ctrl+d") && editor.getText() === "") {
      left.resolve();
      return { consume: true };
    }
    if (matchesKey(data, "ctrl+o")) {
      const last = [...chat.conversation().blocks()].findLast((block) => block.kind === "call");
      chat.note((last && resultLine(last, true)) ?? "No tool results yet.");
      return { consume: true };
    }
    return undefined;
  });
  const footer = new Container();
  footer.addChild(status);
  footer.addChild(editor);
  tui.addChild(page.above(footer));
  tui.addChild(footer);
  tui.setFocus(editor);
  const timer = setInterval(() => {
    if (chat.conversation().working().size > 0) refresh();
  }, tickMs);
  const onSignal = () => left.resolve();
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, onSignal);
  tui.start();
  try {
    await chat.move(first);
    await left.promise;
  } finally {
    clearInterval(timer);
    chat.close();
    footer.clear();
    tui.renderNow();
    tui.stop();
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, onSignal);
  }
}

function createEditor(tui: TuiMainScreen, colours: ScreenOptions["colours"]): Editor {
  return new Editor(tui, {
    borderColor: colours.dim,
    selectList: {
      selectedPrefix: colours.bold,
      selectedText: colours.bold,
      description: colours.dim,
      scrollInfo: colours.dim,
      noMatch: colours.dim,
    },
  });
}

/** `@` members anywhere, `/` commands at the beginning. */
function completions(place: () => ChatPlace): AutocompleteProvider {
  const suggest = (before: string, isFirst: boolean) => {
    const prefix = /(?:^|\s)(@[\w-]*)$/.exec(before)?.[1] ?? (isFirst ? /^(\/\w*)$/.exec(before)?.[1] : undefined);
    if (prefix === undefined) return undefined;
    const all: readonly AutocompleteItem[] = prefix.startsWith("@")
      ? place().members.map(({ id, about }) => ({ value: id, label: id, description: printable(about) }))
      : commands.map(({ name, about }) => ({ value: `/${name}`, label: `/${name}`, description: about }));
    return { items: all.filter(({ value }) => value.startsWith(prefix)), prefix };
  };
  return {
    triggerCharacters: ["@", "/"],
    getSuggestions(lines, line, column) {
      const found = suggest((lines[line] ?? "").slice(0, column), line === 0);
      return Promise.resolve(found && found.items.length > 0 ? found : null);
    },
    applyCompletion(...[lines, cursorLine, cursorCol, item]) {
      const line = lines[cursorLine] ?? "";
      // What was typed since the list was made counts too.
      const found = suggest(line.slice(0, cursorCol), cursorLine === 0);
      const chosen = found?.items.find(({ value }) => value === item.value) ?? found?.items[0];
      if (!found || !chosen) return { lines, cursorLine, cursorCol };
      const start = cursorCol - found.prefix.length;
      // What is typed next is no part of the name.
      const value = `${chosen.value} `;
      const changed = line.slice(0, start) + value + line.slice(cursorCol).replace(/^ /, "");
      return { lines: lines.with(cursorLine, changed), cursorLine, cursorCol: start + value.length };
    },
  };
}

/** What stands above the editor. */
type ScreenPage = {
  readonly add: (component: Component) => void;
  /** The page, drawn over what stands below it. */
  readonly above: (footer: Component) => Component;
};

/**
 * Grows downward only: a line that has scrolled away stays as it was, since to change it the terminal would have to be wiped.
 * After a change of the terminal's size what has scrolled away is the terminal's own.
 */
function createPage(rows: () => number): ScreenPage {
  const container = new Container();
  let drawn: readonly string[] = [];
  let size = "";
  /** So many lines of the page are the terminal's own since its size changed. */
  let left = 0;

  return {
    add: (component) => container.addChild(component),
    above: (footer) => ({
      render(width) {
        const height = rows();
        const room = Math.max(1, height - footer.render(width).length);
        const all = container.render(width);
        if (size !== "" && size !== `${width}x${height}`) {
          left = Math.max(0, all.length - room);
          drawn = [];
        }
        size = `${width}x${height}`;
        const lines = all.slice(left);
        const gone = Math.max(0, drawn.length - room);
        drawn = gone === 0 ? lines : [...drawn.slice(0, gone), ...lines.slice(gone)];
        return [...drawn];
      },
      invalidate: () => container.invalidate(),
    }),
  };
}

const wipeScrollback = "\u001B[3J";

/** What stood in the terminal before is not this program's to wipe. */
function scrollbackKept<Kind extends Terminal>(terminal: Kind): Kind {
  const write = terminal.write.bind(terminal);
  terminal.write = (text) => write(text.replaceAll(wipeScrollback, ""));
  return terminal;
}

/** What is going on, in words; empty when it is the person's turn. */
function statusLine(chat: Chat, colours: Colours, now: number): string {
  const conversation = chat.conversation();
  const open = conversation.open().length;
  if (open > 0) return colours.bold(`needs your input${open > 1 ? `: ${open} questions` : ""}`);
  const place = chat.place();
  const working = [...conversation.working().values()].flatMap((agent) =>
    agent !== undefined && place.members.some(({ id }) => id === `@${agent}`) ? [`@${agent}`] : [],
  );
  if (conversation.working().size === 0) return "";
  const who = working.length > 0 ? `${working.join(", ")} ${working.length > 1 ? "are" : "is"} working` : "working";
  const running = [...conversation.blocks()].findLast(({ kind, ...rest }) => kind === "call" && !("endedAt" in rest));
  const since = running?.kind === "call" ? ` · ${running.name} · ${seconds(now - Date.parse(running.startedAt))}` : "";
  return colours.dim(`${who}${since}  (Esc stops)`);
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}
