import type { McpTrial } from "../../src/protocol/agents/trials.ts";
import type { DefinedMcpServer } from "../../src/protocol/agents/definitions.ts";
import { adminWords } from "./admin-words.ts";
import { definitions } from "./admin-client.ts";
import type { FieldSpec } from "./definition-fields.ts";
import { DefinitionList } from "./definition-list.tsx";
import { duration, figure, time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { usePolling } from "../parts/use-polling.ts";
import { isAway, mcpServerGrades } from "../parts/mcp-server-grades.ts";
import { State } from "../parts/state.tsx";
import { Note } from "../parts/note.tsx";
import { Act } from "../parts/action-button.tsx";

const texts = adminWords.mcp;

const fields: readonly FieldSpec[] = [
  { key: "url", label: texts.url, kind: "line", hint: "https://example.com/mcp" },
  { key: "headers", label: texts.headers, kind: "pairs", hint: "authorization: Bearer …" },
  { key: "auth", label: texts.auth, kind: "choice", choices: ["", "oauth"] },
  { key: "tools", label: texts.taken, kind: "words", hint: "!delete_*" },
  { key: "description", label: adminWords.agents.description, kind: "line" },
  { key: "command", label: texts.command, kind: "line", hint: "npx" },
  { key: "args", label: texts.args, kind: "words", hint: "-y" },
  { key: "env", label: texts.env, kind: "pairs", hint: "TOKEN: …" },
];

/** Servers of tools: how each is doing, and what it offers. */
export function McpServers() {
  const loaded = useLoaded("mcp servers", definitions.mcpServers.list);
  usePolling(loaded.data?.some(({ server }) => server?.state === "connecting") ?? false, loaded.reload);
  return (
    <>
      <p className="text-muted">{texts.explain}</p>
      <DefinitionList
        section="mcp-servers"
        kind={definitions.mcpServers}
        fields={fields}
        loaded={loaded}
        head={[texts.target, texts.state, texts.offers]}
        cells={({ server }) => [
          <code key="target" className="block min-w-44 break-all">
            {server?.target}
          </code>,
          <Doing key="doing" server={server} />,
          server && server.tools > 0 ? texts.tools(server.tools, figure(server.tokens)) : "",
        ]}
        actions={(view, show) => (
          <>
            <Act
              name={`${texts.connect}: ${view.id}`}
              onAct={async () => {
                show(<Trial trial={await definitions.tryMcpServer(view.id)} />);
                loaded.reload();
              }}
            >
              {texts.connect}
            </Act>
            {view.definition?.["auth"] !== undefined && (
              <>
                <Act
                  name={`${texts.signIn}: ${view.id}`}
                  onAct={async () => show(<SignIn url={await definitions.signIn(view.id)} />)}
                >
                  {texts.signIn}
                </Act>
                <Act
                  name={`${texts.signOut}: ${view.id}`}
                  onAct={() => definitions.signOut(view.id).then(loaded.reload)}
                >
                  {texts.signOut}
                </Act>
              </>
            )}
          </>
        )}
        tryDraft={async (draft) => <Trial trial={await definitions.tryMcpServer(draft)} />}
      />
    </>
  );
}

function Doing({ server }: { readonly server: DefinedMcpServer["server"] }) {
  if (!server) return <State grade="quiet">{texts.states.disabled}</State>;
  if (isAway(server))
    return (
      <>
        <State grade="quiet">{texts.nothingListens}</State>
        <div className="text-muted">{texts.notConfigured}</div>
      </>
    );
  return (
    <>
      <State grade={mcpServerGrades[server.state]}>{texts.states[server.state]}</State>
      {server.reason !== undefined && <div className="text-muted">{server.reason}</div>}
      {server.nextTry !== undefined && <div className="text-muted">{texts.nextTry(time(server.nextTry))}</div>}
    </>
  );
}

function SignIn({ url }: { readonly url: string }) {
  return (
    <a className="text-accent underline" href={url} target="_blank" rel="noreferrer">
      {texts.signInAt(siteOf(url))}
    </a>
  );
}

/** Undefined: one is led on from a page of this server. */
function siteOf(url: string): string | undefined {
  const { pathname, host } = new URL(url);
  return /\/api\/mcp\//.test(pathname) ? undefined : host;
}

function Trial({ trial: { server, tools, totalMs } }: { readonly trial: McpTrial }) {
  return (
    <div className="grid gap-1">
      <p>
        <Doing server={server} /> {texts.took(duration(totalMs))}
      </p>
      {server.signIn !== undefined && <SignIn url={server.signIn} />}
      <ul>
        {tools.map(({ name, description, effect, destructive }) => (
          <li key={name}>
            <code>{name}</code>{" "}
            <span className="text-muted">{destructive ? texts.destructive : texts.effects[effect]}</span>{" "}
            {description.slice(0, 200)}
          </li>
        ))}
        {server.unusable.map(({ tool, reason }) => (
          <li key={tool}>
            <Note>
              {tool}: {reason}
            </Note>
          </li>
        ))}
      </ul>
    </div>
  );
}
