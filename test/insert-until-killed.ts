/** Opens a data directory, prints `open`, then inserts rows, printing the number of each as soon as it is committed. */
import { openDatabase } from "../src/store/driver/open.ts";

const [dataDirectory] = process.argv.slice(2);
const database = await openDatabase({ dataDirectory: dataDirectory! });
database.announce?.({ url: "http://127.0.0.1:8000" });
await database.query("create table if not exists rows (id integer primary key, body text)");
process.stdout.write("open\n");
for (let id = 1; ; id++) {
  await database.query("insert into rows values ($1, $2)", [id, "x".repeat(500)]);
  process.stdout.write(`${id}\n`);
}
