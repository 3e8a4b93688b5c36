import { setNotifications, useNotifications } from "../threads/notifications.ts";
import { languageChoice } from "../browser/language.ts";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { sendKey } from "../browser/send-key.ts";
import { theme } from "../browser/theme.ts";
import { Section } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.general;

export function General() {
  const mayNotify = useNotifications();
  return (
    <>
      <Section title={texts.appearance} explain={texts.languageReloads}>
        <div className="flex flex-wrap gap-3">
          <ChoiceField
            label={texts.language}
            value={languageChoice.use()}
            options={Object.entries(texts.languages)}
            onChange={(value) => {
              languageChoice.set(value);
              location.reload();
            }}
          />
          <ChoiceField
            label={texts.theme}
            value={theme.use()}
            options={Object.entries(texts.themes)}
            onChange={theme.set}
          />
        </div>
      </Section>
      <Section title={texts.writing}>
        <ChoiceField
          label={texts.send}
          value={sendKey.use()}
          options={Object.entries(texts.sendKeys)}
          onChange={sendKey.set}
        />
      </Section>
      <Section title={texts.notices}>
        {mayNotify === undefined ? (
          <p className="text-sm">{texts.noNotices}</p>
        ) : (
          <label className="check-line">
            <input
              type="checkbox"
              checked={mayNotify}
              onChange={(event) => void setNotifications(event.target.checked)}
            />
            {texts.notify}
          </label>
        )}
      </Section>
      <p className="text-sm text-muted">{texts.here}</p>
    </>
  );
}
