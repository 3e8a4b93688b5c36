import { testConformance } from "./conformance.ts";

await testConformance("landlock");
