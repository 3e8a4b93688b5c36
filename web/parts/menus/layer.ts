import { createContext } from "react";

/** The dialog that a part stands in, in whose layer what it opens must stand too; undefined: the page's own. */
export const Layer = createContext<HTMLElement | undefined>(undefined);
