import { firstWords } from "../words.ts";

export const threadWords = firstWords.threads;
