import { Archive, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { goTo } from "../path.ts";
import { base, client } from "../server.ts";
import { words } from "../words.ts";
import { searchThreads, threadsChanged, useThreads } from "./threads-store.ts";

/** One's conversations, the last used first. */
export function ThreadList({
  current,
  onChoose,
}: {
  readonly current: string | undefined;
  readonly onChoose: () => void;
}) {
  const { threads, search } = useThreads();
  const [named, setNamed] = useState<string>();

  async function change(id: string, input: { readonly title?: string; readonly archived?: boolean }): Promise<void> {
    await client.changeThread(id, input);
    setNamed(undefined);
    threadsChanged();
  }

  async function remove(id: string): Promise<void> {
    if (!confirm(words.deleteSure)) return;
    await client.deleteThread(id);
    if (id === current) goTo("/");
    threadsChanged();
  }

  return (
    <nav aria-label={words.conversations} className="flex min-h-0 flex-1 flex-col gap-2 p-3">
      <button
        type="button"
        className="button justify-start"
        onClick={() => {
          goTo("/");
          onChoose();
        }}
      >
        <Plus size={16} aria-hidden /> {words.newChat}
      </button>
      <input
        type="search"
        className="field"
        aria-label={words.search}
        placeholder={words.search}
        onChange={(event) => searchThreads(event.target.value)}
      />
      {threads.length === 0 && search !== "" && <p className="text-sm text-muted">{words.nothingFound}</p>}
      <ul className="min-h-0 flex-1 overflow-y-auto text-sm">
        {threads.map(({ id, title }) => (
          <li key={id} className="group thread-entry" aria-current={id === current ? "page" : undefined}>
            {named === id ? (
              <form
                className="grow"
                onSubmit={(event) => {
                  event.preventDefault();
                  void change(id, { title: new FormData(event.currentTarget).get("title")?.toString() ?? "" });
                }}
              >
                <input
                  name="title"
                  className="field w-full"
                  aria-label={words.rename}
                  defaultValue={title}
                  autoFocus
                  onBlur={() => setNamed(undefined)}
                />
              </form>
            ) : (
              <a
                className="min-w-0 grow truncate"
                href={`${base}chat/${id}`}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey) return;
                  event.preventDefault();
                  goTo(`/chat/${id}`);
                  onChoose();
                }}
              >
                {title === "" ? words.noTitle : title}
              </a>
            )}
            <span className="thread-actions">
              <button
                type="button"
                className="icon-button"
                aria-label={`${words.rename}: ${title}`}
                onClick={() => setNamed(id)}
              >
                <Pencil size={16} aria-hidden />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={`${words.archive}: ${title}`}
                onClick={() => void change(id, { archived: true })}
              >
                <Archive size={16} aria-hidden />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={`${words.delete}: ${title}`}
                onClick={() => void remove(id)}
              >
                <Trash2 size={16} aria-hidden />
              </button>
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}
