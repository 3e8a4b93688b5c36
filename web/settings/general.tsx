import { t } from "@lingui/core/macro";
import { setNotifications, useNotifications } from "../threads/notifications.ts";
import { type Language, languageChoice, languageNames, writtenByPeople } from "../browser/language.ts";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { sendKey } from "../browser/send-key.ts";
import { theme } from "../browser/theme.ts";
import { Section } from "./section.tsx";

const themeNames = { "": t`System default`, light: t`Light`, dark: t`Dark` };

const sendKeyNames = { "": t`Enter (Shift + Enter for a new line)`, ctrl: t`Ctrl + Enter (Enter for a new line)` };

export function General() {
  const mayNotify = useNotifications();
  return (
    <>
      <Section title={t`Language and appearance`} explain={t`The page reloads in the new language.`}>
        <div className="flex flex-wrap gap-3">
          <ChoiceField
            label={t`Language`}
            value={languageChoice.use()}
            options={[
              ["", t`Browser default`],
              ...Object.entries(languageNames).map(([code, name]): [string, string] => [
                code,
                writtenByPeople.has(code as Language) ? name : `${name} *`,
              ]),
            ]}
            onChange={(value) => {
              languageChoice.set(value);
              location.reload();
            }}
          />
          <ChoiceField label={t`Theme`} value={theme.use()} options={Object.entries(themeNames)} onChange={theme.set} />
        </div>
        <p className="text-sm text-muted">{t`* Drafted by machine. Corrections are welcome.`}</p>
      </Section>
      <Section title={t`Composer`}>
        <ChoiceField
          label={t`Send messages with`}
          value={sendKey.use()}
          options={Object.entries(sendKeyNames)}
          onChange={sendKey.set}
        />
      </Section>
      <Section title={t`Notifications`}>
        {mayNotify === undefined ? (
          <p className="text-sm">{t`Notifications are blocked for this page. Allow them in your browser's settings.`}</p>
        ) : (
          <label className="check-line">
            <input
              type="checkbox"
              checked={mayNotify}
              onChange={(event) => void setNotifications(event.target.checked)}
            />
            {t`Notify me when something needs my input`}
          </label>
        )}
      </Section>
      <p className="text-sm text-muted">{t`These settings are saved in this browser, for all its tabs.`}</p>
    </>
  );
}
