import { plural, t } from "@lingui/core/macro";
import type { McpTrial } from "../../src/protocol/agents/trials.ts";
import type { DefinedMcpServer } from "../../src/protocol/agents/definitions.ts";
import { definitions } from "./admin-client.ts";
import type { FieldSpec } from "./definition-fields.ts";
import { DefinitionList } from "./definition-list.tsx";
import { duration, figure, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { isAway, mcpServerGrades } from "../parts/mcp-server-grades.ts";
import { State } from "../parts/state.tsx";
import { Note } from "../parts/note.tsx";
import { Act } from "../parts/action-button.tsx";

const stateNames = {
  idle: t`not used yet`,
  connecting: t`connecting`,
  ready: t`ready`,
  failed: t`failed`,
  "sign-in needed": t`sign-in required`,
  disabled: t`disabled`,
};

const effectNames = { read: t`reads`, write: t`writes` };

const fields: readonly FieldSpec[] = [
  { key: "url", label: t`Address`, kind: "line", hint: "https://example.com/mcp" },
  { key: "headers", label: t`Headers (name: value, one per line)`, kind: "pairs", hint: "authorization: Bearer …" },
  { key: "auth", label: t`Authentication`, kind: "choice", choices: ["", "oauth"] },
  { key: "tools", label: t`Tools (one per line; empty for all; !name to exclude)`, kind: "words", hint: "!delete_*" },
  { key: "description", label: t`Description`, kind: "line" },
  { key: "command", label: t`Or a command`, kind: "line", hint: "npx" },
  { key: "args", label: t`Arguments (one per line)`, kind: "words", hint: "-y" },
  { key: "env", label: t`Environment variables (NAME: value)`, kind: "pairs", hint: "TOKEN: …" },
];

/** Servers of tools: how each is doing, and what it offers. */
export function McpServers() {
  const loaded = useAnswer(["admin", "mcp-servers"], definitions.mcpServers.list, {
    everyMs: (all) => all?.some(({ server }) => server?.state === "connecting") === true && 1000,
  });
  return (
    <>
      <p className="text-muted">{t`Use the tools of other programs over the Model Context Protocol. Enter the address of a server, or a command that starts one here.`}</p>
      <DefinitionList
        section="mcp-servers"
        kind={definitions.mcpServers}
        fields={fields}
        loaded={loaded}
        head={[t`Address or command`, t`State`, t`Provides`]}
        cells={({ server }) => [
          <code key="target" className="block min-w-44 break-all">
            {server?.target}
          </code>,
          <Doing key="doing" server={server} />,
          server && server.tools > 0
            ? t`${plural({ count: server.tools }, { one: "# tool", other: "# tools" })}, ${{ tokens: figure(server.tokens) }} tokens per prompt`
            : "",
        ]}
        actions={(view, show) => (
          <>
            <Act
              name={`${t`Connect`}: ${view.id}`}
              onAct={async () => {
                show(<Trial trial={await definitions.tryMcpServer(view.id)} />);
                loaded.reload();
              }}
            >
              {t`Connect`}
            </Act>
            {view.definition?.["auth"] !== undefined && (
              <>
                <Act
                  name={`${t`Sign in`}: ${view.id}`}
                  onAct={async () => show(<SignIn url={await definitions.signIn(view.id)} />)}
                >
                  {t`Sign in`}
                </Act>
                <Act name={`${t`Sign out`}: ${view.id}`} onAct={() => definitions.signOut(view.id).then(loaded.reload)}>
                  {t`Sign out`}
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
  if (!server) return <State grade="quiet">{t`disabled`}</State>;
  if (isAway(server))
    return (
      <>
        <State grade="quiet">{t`nothing is listening there`}</State>
        <div className="text-muted">{t`Built in`}</div>
      </>
    );
  return (
    <>
      <State grade={mcpServerGrades[server.state]}>{stateNames[server.state]}</State>
      {server.reason !== undefined && <div className="text-muted">{server.reason}</div>}
      {server.nextTry !== undefined && (
        <div className="text-muted">{t`next try: ${{ when: time(server.nextTry) }}`}</div>
      )}
    </>
  );
}

function SignIn({ url }: { readonly url: string }) {
  const host = siteOf(url);
  return (
    <a className="text-accent underline" href={url} target="_blank" rel="noreferrer">
      {host === undefined ? t`Sign in (opens a new tab)` : t`Sign in at ${host} (opens a new tab)`}
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
        <Doing server={server} /> {t`after ${{ how: duration(totalMs) }}`}
      </p>
      {server.signIn !== undefined && <SignIn url={server.signIn} />}
      <ul>
        {tools.map(({ name, description, effect, destructive }) => (
          <li key={name}>
            <code>{name}</code> <span className="text-muted">{destructive ? t`destructive` : effectNames[effect]}</span>{" "}
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
