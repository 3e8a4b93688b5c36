import { t } from "@lingui/core/macro";
import { useMe } from "../page/me.ts";
import { time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Act } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { ApiKeys } from "./api-keys.tsx";
import { McpSignIns } from "./mcp-sign-ins.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";

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
  const loaded = useAnswer(["grants"], client.grants);
  return (
    <Section
      title={t`Always allowed`}
      explain={t`Agents do this without asking you, because you once chose “Always allow”.`}
    >
      <SettingsTable
        name={t`Always allowed`}
        head={[t`Tool`, t`With arguments`, t`Actions`]}
        loaded={loaded}
        none={t`None. Agents ask you every time.`}
        row={({ id, tool, pattern, argumentsHash }) => (
          <tr key={id}>
            <th scope="row">
              <code>{tool}</code>
            </th>
            <td>
              {pattern && Object.keys(pattern).length > 0 ? (
                <code className="break-all">{JSON.stringify(pattern)}</code>
              ) : argumentsHash !== undefined ? (
                t`exactly those you allowed`
              ) : (
                t`any`
              )}
            </td>
            <td>
              <div className="row-actions">
                <Act name={`${t`Revoke`}: ${tool}`} onAct={() => client.removeGrant(id).then(loaded.reload)}>
                  {t`Revoke`}
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
  const loaded = useAnswer(["shares"], accountClient.shares);
  return (
    <Section
      title={t`Shared links`}
      explain={t`Anyone with the link can read the conversation up to the moment it was created.`}
    >
      <SettingsTable
        name={t`Shared links`}
        head={[t`Conversation`, t`Created`, t`Expires`, t`Actions`]}
        loaded={loaded}
        none={t`No shared links`}
        row={({ id, threadId, title, createdAt, expiresAt }) => (
          <tr key={id}>
            <th scope="row">
              <PageLink to={`/chat/${threadId}`}>{title === "" ? t`(no title)` : title}</PageLink>
            </th>
            <td>{time(createdAt)}</td>
            <td>{expiresAt === null ? t`never` : time(expiresAt)}</td>
            <td>
              <div className="row-actions">
                <Act name={`${t`Revoke`}: ${title}`} onAct={() => accountClient.withdrawShare(id).then(loaded.reload)}>
                  {t`Revoke`}
                </Act>
              </div>
            </td>
          </tr>
        )}
      />
    </Section>
  );
}
