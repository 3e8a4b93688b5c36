import { firstWords } from "../words/words.ts";

export const threadWords = firstWords.threads;
