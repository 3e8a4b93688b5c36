import { firstWords } from "../words.ts";

export const talkWords = firstWords.talk;
