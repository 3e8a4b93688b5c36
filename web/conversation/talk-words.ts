import { firstWords } from "../words/words.ts";

export const talkWords = firstWords.talk;
