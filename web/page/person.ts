import { createStoredChoice } from "../browser/stored-choice.ts";
import { base } from "./server.ts";

/**
 * Whose this browser is, for all of its tabs; empty: nobody's. What a page holds in memory is one person's: with another one it is
 * loaded anew, which empties all of it at once.
 */
const owner = createStoredChoice(`person-${base}`);
let shownTo = "";
const tabKey = "colloquy-person";

/** Begins the names of what a browser keeps for its person alone; another one doesn't find it. */
export const personal = "own-";

owner.onChange(() => {
  if (shownTo !== "" && owner.get() !== shownTo) loadAnew();
});

/** To be called as soon as it is known who looks at the page. */
export function showTo(person: string): void {
  const isAnothers = [owner.get(), ofTab.get()].some((each) => each !== "" && each !== person);
  shownTo = person;
  // Nobody logged out, or in another tab: something of the one before may have been read here already.
  if (isAnothers) forgetKept();
  owner.set(person);
  ofTab.set(person);
  if (isAnothers) loadAnew();
}

export function isShownTo(person: string): boolean {
  return person === shownTo;
}

/** After a logout. Other tabs hear of it at once; nor is the page seen that a way back leads to. */
export function forgetPerson(): void {
  document.documentElement.hidden = true;
  forgetKept();
  shownTo = "";
  owner.set("");
}

function loadAnew(): void {
  document.documentElement.hidden = true;
  location.reload();
}

/** Of whom a tab keeps what it finds again by itself, as after a login that ran out. */
const ofTab = {
  get(): string {
    try {
      return sessionStorage.getItem(tabKey) ?? "";
    } catch {
      return "";
    }
  },
  set(person: string): void {
    try {
      sessionStorage.setItem(tabKey, person);
    } catch {
      // Then it keeps nothing else either.
    }
  },
};

function forgetKept(): void {
  try {
    sessionStorage.clear();
    for (const key of Object.keys(localStorage))
      if (key.startsWith(`colloquy-${personal}`)) localStorage.removeItem(key);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}
