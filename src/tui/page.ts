import { type Component, Container, type Terminal } from "@earendil-works/pi-tui";

/** What stands above the editor. */
export type Page = {
  readonly add: (component: Component) => void;
  /** The page, drawn over what stands below it. */
  readonly above: (footer: Component) => Component;
};

/**
 * Grows downward only: a line that has scrolled away stays as it was, since to change it the terminal would have to be wiped.
 * After a change of the terminal's size what has scrolled away is the terminal's own.
 */
export function createPage(rows: () => number): Page {
  const container = new Container();
  let drawn: readonly string[] = [];
  let size = "";
  /** So many lines of the page are the terminal's own since its size changed. */
  let left = 0;

  return {
    add: (component) => container.addChild(component),
    above: (footer) => ({
      render(width) {
        const height = rows();
        const room = Math.max(1, height - footer.render(width).length);
        const all = container.render(width);
        if (size !== "" && size !== `${width}x${height}`) {
          left = Math.max(0, all.length - room);
          drawn = [];
        }
        size = `${width}x${height}`;
        const lines = all.slice(left);
        const gone = Math.max(0, drawn.length - room);
        drawn = gone === 0 ? lines : [...drawn.slice(0, gone), ...lines.slice(gone)];
        return [...drawn];
      },
      invalidate: () => container.invalidate(),
    }),
  };
}

const wipeScrollback = "\u001B[3J";

/** What stood in the terminal before is not this program's to wipe. */
export function scrollbackKept<Kind extends Terminal>(terminal: Kind): Kind {
  const write = terminal.write.bind(terminal);
  terminal.write = (text) => write(text.replaceAll(wipeScrollback, ""));
  return terminal;
}
