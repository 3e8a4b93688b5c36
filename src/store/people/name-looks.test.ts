import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../test/databases.ts";
import { newId } from "../../protocol/base/ids.ts";
import { migrate } from "../schema/migrate.ts";
import { looksOf } from "../schema/name-looks.ts";
import { claimOwner, createUser, ensureOwner, listUsers } from "./users.ts";

const alike: readonly (readonly [string, string, string])[] = [
  ["admin", "аdmin", "a Cyrillic а"],
  ["admin", "ADMlN", "a small l for a capital I"],
  ["admin", "АDМIN", "Cyrillic capitals among others"],
  ["scope", "ѕсоре", "all of it Cyrillic"],
  ["paypal", "paypa1", "a digit"],
  ["OSLO", "0sl0", "zeros"],
  ["arnold", "amold", "rn and m"],
  ["heron", "he\u0301ron".normalize("NFC").replace("é", "e\u200b"), "a space of no width"],
  ["max", "Мax", "a Cyrillic capital"],
  ["jose\u0301", "josé", "an accent of its own"],
  ["ada", "𝒶𝒹𝒶", "letters of mathematics"],
];
for (const [name, other, what] of alike)
  test(`names that look alike are the same to the eye: ${what}`, () => {
    assert.notEqual(name, other);
    assert.equal(looksOf(name), looksOf(other));
  });

test("names that can be told apart stay apart", () => {
  const names = ["ada", "adam", "ben", "bén", "иван", "ivan", "müller", "muller", "田中", "田口", "user2", "user3"];
  assert.equal(new Set(names.map(looksOf)).size, names.length);
});

eachDatabase((databases) => {
  test("a name that looks like another account's is nobody's, in whatever way an account is made", async () => {
    const { query, transaction } = await databases.open();
    await ensureOwner(query);
    await createUser(query, { name: "admin", role: "user" });
    const refused = { status: 409, code: "name_alike", message: /is too similar to another account/ };
    await assert.rejects(createUser(query, { name: "аdmin", role: "user" }), refused);
    await assert.rejects(createUser(query, { name: "0wner", role: "user" }), refused);
    await assert.rejects(createUser(query, { name: "Admin", role: "user" }), { code: "user_exists" });
    await assert.rejects(
      transaction((within) => claimOwner(within, { name: "ADMlN", passwordHash: "x" })),
      refused,
    );
    const claimed = await transaction((within) => claimOwner(within, { name: "0wner", passwordHash: "x" }));
    assert.equal(claimed.name, "0wner", "one's own name is in nobody's way");
    const names = Array.from({ length: 8 }, (_, bits) =>
      [...bits.toString(2).padStart(3, "0")].map((bit) => "oо"[+bit]),
    );
    const made = await Promise.allSettled(
      names.map((name) => createUser(query, { name: `b${name.join("")}`, role: "user" })),
    );
    assert.equal(made.filter(({ status }) => status === "fulfilled").length, 1, "at the same time too");
  });

  test("accounts that looked alike before keep their names, and nobody else gets one like them", async () => {
    const database = await databases.open({ migrated: false });
    const { query } = database;
    await migrate(database, { only: (name) => name < "0028" });
    for (const name of ["ada", "аda", "adа", "ben"])
      await query("insert into users (id, name, role) values ($1, $2, 'user')", [newId(), name]);
    await migrate(database);
    assert.deepEqual(new Set((await listUsers(query)).map(({ name }) => name)), new Set(["ada", "аda", "adа", "ben"]));
    await query("delete from users where name = 'ada'");
    await assert.rejects(createUser(query, { name: "аdа", role: "user" }), { code: "name_alike" });
    await createUser(query, { name: "carl", role: "user" });
  });
});
