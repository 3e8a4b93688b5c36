/** The words that the first view of the page waits for, together: each file of its own would be one more journey. */
export { en as words } from "./en.ts";
export { en as talk } from "./en-talk.ts";
export { en as threads } from "./en-threads.ts";
