import { testWays } from "./test-ways.ts";
import { ownWays, sharedWays } from "./ways.ts";

testWays("openai", [...sharedWays("openai"), ...ownWays("openai")]);
