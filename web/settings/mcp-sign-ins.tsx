import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { McpServerState } from "../../src/protocol/agents/mcp-servers.ts";
import { useAnswer } from "../parts/answers.ts";
import { isAway, mcpServerGrades } from "../parts/mcp-server-grades.ts";
import { Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";

const stateNames = {
  idle: t`not used yet`,
  connecting: t`connecting`,
  ready: t`ready`,
  failed: t`failed`,
  "sign-in needed": t`sign-in required`,
  disabled: t`disabled`,
};

/** Servers of tools as they are for oneself. */
export function McpSignIns() {
  const loaded = useAnswer(["mcp-servers"], accountClient.mcpServers, {
    everyMs: (all) => all?.some(({ state }) => state === "connecting") === true && 1000,
  });
  const [isOpened, setOpened] = useState(false);
  return (
    <Section title={t`MCP servers`} explain={t`Tool servers that you can use. Some need each person to sign in.`}>
      <SettingsTable
        name={t`MCP servers`}
        head={[t`Server`, t`State`, t`Actions`]}
        loaded={loaded}
        none={t`No MCP servers`}
        row={(server) => (
          <ServerRow
            key={server.name}
            server={server}
            onSignIn={() => setOpened(true)}
            onSignOut={() => accountClient.signOut(server.name).then(loaded.reload)}
          />
        )}
      />
      {isOpened && (
        <div role="status" className="flex flex-wrap items-center gap-3 text-sm">
          {t`Sign in in the other tab, then refresh here.`}
          <button type="button" className="button" onClick={loaded.reload}>
            {t`Refresh`}
          </button>
        </div>
      )}
    </Section>
  );
}

type ServerRowProps = {
  readonly server: McpServerState;
  readonly onSignIn: () => void;
  readonly onSignOut: () => Promise<void>;
};

function ServerRow({ server, onSignIn, onSignOut }: ServerRowProps) {
  const { name, state, reason, tools, signIn } = server;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <State grade={mcpServerGrades[state]}>
          {isAway(server) ? t`nothing is listening there` : stateNames[state]}
        </State>
        {state === "ready" && (
          <span className="text-muted"> {plural({ count: tools }, { one: "# tool", other: "# tools" })}</span>
        )}
        {state === "failed" && <Problem text={reason} />}
      </td>
      <td>
        <div className="row-actions">
          {signIn !== undefined && (
            <a
              className="button"
              href={signIn}
              target="_blank"
              rel="noopener"
              aria-label={`${t`Sign in`}: ${name}`}
              onClick={onSignIn}
            >
              {t`Sign in`}
            </a>
          )}
          {state === "ready" && signIn === undefined && (
            <Act name={`${t`Sign out`}: ${name}`} onAct={onSignOut}>
              {t`Sign out`}
            </Act>
          )}
        </div>
      </td>
    </tr>
  );
}
