import { testWires } from "../wires.ts";
import { testWays } from "./test-ways.ts";
import { ownWays, sharedWays } from "./ways.ts";

for (const { name } of testWires) {
  if (name !== "openai") testWays(name, sharedWays(name));
  testWays(name, [...sharedWays(name), ...ownWays(name)], ["second", "always"]);
}
