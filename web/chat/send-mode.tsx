import { createStoredChoice } from "../browser/stored-choice.ts";
import { talkWords } from "../conversation/talk-words.ts";

/** When what is said meanwhile is heard: `queue` after the answer, `steer` at the next step of who works. */
export const sendMode = createStoredChoice("send-mode");

/** Beside the composer while an agent works. */
export function SendModeSwitch() {
  const mode = sendMode.use() === "steer" ? "steer" : "queue";
  return (
    <fieldset className="send-mode">
      <legend className="sr-only">{talkWords.send.when}</legend>
      {(["queue", "steer"] as const).map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="send-mode"
            value={each}
            checked={mode === each}
            onChange={() => sendMode.set(each)}
          />
          <span className="wide-words">{talkWords.send[each]}</span>
          <span className="narrow-words" aria-hidden>
            {talkWords.send.short[each]}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
