type Write = (fields: object, text: string) => void;

/** What every part logs through; pino has this shape. */
export type Log = { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };

/** For commands and tests that don't log. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
