/** Loaded before a program: its own clock goes wrong by `SHIFTED_CLOCK_MS`. Timers and the database's clock do not. */
const shift = Number(process.env["SHIFTED_CLOCK_MS"]);
const { now } = Date;

globalThis.Date = new Proxy(Date, {
  construct: (target, given: unknown[], made) =>
    Reflect.construct(target, given.length === 0 ? [now() + shift] : given, made) as Date,
  get: (target, name) => (name === "now" ? () => now() + shift : (Reflect.get(target, name) as unknown)),
});
