/** The words that the first view of the page waits for, together: each file of its own would be one more journey. */
export { de as words } from "./de.ts";
export { de as talk } from "./de-talk.ts";
export { de as threads } from "./de-threads.ts";
