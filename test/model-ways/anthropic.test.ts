import { testWays } from "./test-ways.ts";
import { ownWays } from "./ways.ts";

testWays("anthropic", ownWays("anthropic"));
