import pg from "pg";

/**
 * The runs that were accepted and what became of them, for libraries that keep the state of a run and leave it to the program
 * which runs there are.
 */
export async function openAccepted() {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 5 });
  pool.on("error", (error) => console.error(error));
  await pool.query(
    "create table if not exists accepted (id text primary key, message text not null, status text not null default 'running', answer text, error text)",
  );
  return {
    /** True if it is new. */
    async accept(id, message) {
      const { rowCount } = await pool.query("insert into accepted values ($1, $2) on conflict do nothing", [
        id,
        message,
      ]);
      return rowCount === 1;
    },
    async end(id, status, { answer, error } = {}) {
      await pool.query("update accepted set status = $2, answer = $3, error = $4 where id = $1", [
        id,
        status,
        answer,
        error,
      ]);
    },
    async look(id) {
      const { rows } = await pool.query("select status, answer, error from accepted where id = $1", [id]);
      return rows[0];
    },
    async unfinished() {
      return (await pool.query("select id, message from accepted where status = 'running'")).rows;
    },
  };
}
