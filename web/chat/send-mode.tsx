import { t } from "@lingui/core/macro";
import { createStoredChoice } from "../browser/stored-choice.ts";

const modeNames = { queue: t`Queue`, steer: t`Steer now` };

const shortNames = { queue: t`Queue`, steer: t`Steer` };

/** When what is said meanwhile is heard: `queue` after the answer, `steer` at the next step of who works. */
export const sendMode = createStoredChoice("send-mode");

/** Beside the composer while an agent works. */
export function SendModeSwitch() {
  const mode = sendMode.use() === "steer" ? "steer" : "queue";
  return (
    <fieldset className="send-mode">
      <legend className="sr-only">{t`When to send`}</legend>
      {(["queue", "steer"] as const).map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="send-mode"
            value={each}
            checked={mode === each}
            onChange={() => sendMode.set(each)}
          />
          <span className="wide-words">{modeNames[each]}</span>
          <span className="narrow-words" aria-hidden>
            {shortNames[each]}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
