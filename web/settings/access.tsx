import { useMe } from "../page/me.ts";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Act } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { words } from "../words/words.ts";
import { ApiKeys } from "./api-keys.tsx";
import { McpSignIns } from "./mcp-sign-ins.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.access;

/** What others, and agents, may do in one's name. */
export function Access() {
  const me = useMe();
  return (
    <>
      {me && me.via !== "local" && <ApiKeys />}
      <Grants />
      <McpSignIns />
      <Shares />
    </>
  );
}

function Grants() {
  const loaded = useLoaded("grants", client.grants);
  return (
    <Section title={texts.grants} explain={texts.grantsExplain}>
      <SettingsTable
        name={texts.grants}
        head={[texts.tool, texts.when, texts.actions]}
        loaded={loaded}
        none={texts.noGrants}
        row={({ id, tool, pattern, argumentsHash }) => (
          <tr key={id}>
            <th scope="row">
              <code>{tool}</code>
            </th>
            <td>
              {pattern ? (
                <code className="break-all">{JSON.stringify(pattern)}</code>
              ) : argumentsHash !== undefined ? (
                texts.exactly
              ) : (
                texts.any
              )}
            </td>
            <td>
              <div className="row-actions">
                <Act name={`${texts.takeBack}: ${tool}`} onAct={() => client.removeGrant(id).then(loaded.reload)}>
                  {texts.takeBack}
                </Act>
              </div>
            </td>
          </tr>
        )}
      />
    </Section>
  );
}

function Shares() {
  const loaded = useLoaded("shares", accountClient.shares);
  return (
    <Section title={texts.shares} explain={texts.sharesExplain}>
      <SettingsTable
        name={texts.shares}
        head={[texts.conversation, texts.made, texts.ends, texts.actions]}
        loaded={loaded}
        none={texts.noShares}
        row={({ id, threadId, title, createdAt, expiresAt }) => (
          <tr key={id}>
            <th scope="row">
              <PageLink to={`/chat/${threadId}`}>{title === "" ? words.noTitle : title}</PageLink>
            </th>
            <td>{time(createdAt)}</td>
            <td>{expiresAt === null ? texts.never : time(expiresAt)}</td>
            <td>
              <div className="row-actions">
                <Act
                  name={`${texts.withdraw}: ${title}`}
                  onAct={() => accountClient.withdrawShare(id).then(loaded.reload)}
                >
                  {texts.withdraw}
                </Act>
              </div>
            </td>
          </tr>
        )}
      />
    </Section>
  );
}
