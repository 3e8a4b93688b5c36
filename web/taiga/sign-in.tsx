import { useState } from "react";
import { t } from "@lingui/core/macro";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { setLogin, taiga, useLogin } from "./login.ts";

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
      aria-label={t`Sign in to Taiga`}
      className="taiga-card"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) act();
      }}
    >
      <h2 className="font-semibold">{t`Sign in to Taiga`}</h2>
      {isOver && (
        <p className="text-sm text-warn">{t`Taiga no longer accepts this login. Sign in again; your text is still here.`}</p>
      )}
      {byToken ? (
        <label className="taiga-field">
          {t`Token`}
          <input
            className="field"
            type="password"
            autoComplete="off"
            required
            maxLength={4000}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
          <span className="text-xs">{t`An application token (Application …) or a login token.`}</span>
        </label>
      ) : (
        <>
          <label className="taiga-field">
            {t`Name or e-mail`}
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
            {t`Password`}
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
      <p className="text-xs text-muted">{t`Your name and password go to Taiga and are not stored. You stay signed in until you close this tab.`}</p>
      <Problem text={problem} />
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button-main" disabled={isBusy}>
          {t`Sign in`}
        </button>
        <button type="button" className="button" onClick={() => setByToken(!byToken)}>
          {byToken ? t`Use name and password instead` : t`Use a token instead`}
        </button>
      </div>
    </form>
  );
}
