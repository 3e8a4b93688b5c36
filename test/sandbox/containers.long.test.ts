import { testConformance } from "./conformance.ts";

await testConformance("docker", "podman");
