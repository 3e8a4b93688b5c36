import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { setLogin, taiga, useLogin } from "./login.ts";
import { taigaWords } from "./taiga-words.ts";

const words = taigaWords.signIn;

/** Name and password, or a token that somebody has; asked through the server, since the page may ask nobody else. */
export function SignIn() {
  const { isOver } = useLogin();
  const [byToken, setByToken] = useState(false);
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [token, setToken] = useState("");
  const { isBusy, problem, act } = useAct(async () => {
    if (byToken) {
      const login = { token: token.trim() };
      await taiga.projects(login);
      setLogin(login);
    } else setLogin({ ...(await taiga.signIn({ username, password })), name: username });
  });
  return (
    <form
      aria-label={words.title}
      className="taiga-card"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) act();
      }}
    >
      <h2 className="font-semibold">{words.title}</h2>
      {isOver && <p className="text-sm text-warn">{words.over}</p>}
      {byToken ? (
        <label className="taiga-field">
          {words.token}
          <input
            className="field"
            type="password"
            autoComplete="off"
            required
            maxLength={4000}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
          <span className="text-xs">{words.tokenAbout}</span>
        </label>
      ) : (
        <>
          <label className="taiga-field">
            {words.username}
            <input
              className="field"
              autoComplete="username"
              autoCapitalize="none"
              required
              maxLength={255}
              value={username}
              onChange={(event) => setUsername(event.target.value)}
            />
          </label>
          <label className="taiga-field">
            {words.password}
            <input
              className="field"
              type="password"
              autoComplete="current-password"
              required
              maxLength={1000}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </label>
        </>
      )}
      <p className="text-xs text-muted">{words.about}</p>
      <Problem text={problem} />
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button-main" disabled={isBusy}>
          {words.submit}
        </button>
        <button type="button" className="button" onClick={() => setByToken(!byToken)}>
          {byToken ? words.withPassword : words.withToken}
        </button>
      </div>
    </form>
  );
}
