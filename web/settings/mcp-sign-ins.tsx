import { useState } from "react";
import type { McpServerState } from "../../src/protocol/agents/mcp-servers.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { usePolling } from "../parts/use-polling.ts";
import { isAway, mcpServerGrades } from "../parts/mcp-server-grades.ts";
import { Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.access;

/** Servers of tools as they are for oneself. */
export function McpSignIns() {
  const loaded = useLoaded("own mcp servers", accountClient.mcpServers);
  usePolling(loaded.data?.some(({ state }) => state === "connecting") ?? false, loaded.reload);
  const [isOpened, setOpened] = useState(false);
  return (
    <Section title={texts.servers} explain={texts.serversExplain}>
      <SettingsTable
        name={texts.servers}
        head={[texts.server, texts.state, texts.actions]}
        loaded={loaded}
        none={texts.noServers}
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
          {texts.signInOpened}
          <button type="button" className="button" onClick={loaded.reload}>
            {texts.look}
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
          {isAway(server) ? texts.nothingListens : texts.serverStates[state]}
        </State>
        {state === "ready" && <span className="text-muted"> {texts.tools(tools)}</span>}
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
              aria-label={`${texts.signIn}: ${name}`}
              onClick={onSignIn}
            >
              {texts.signIn}
            </a>
          )}
          {state === "ready" && signIn === undefined && (
            <Act name={`${texts.signOut}: ${name}`} onAct={onSignOut}>
              {texts.signOut}
            </Act>
          )}
        </div>
      </td>
    </tr>
  );
}
