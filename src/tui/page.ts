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

  /** Keeps what fits on the screen. */
  function forget(width: number, height: number): void {
    let used = 0;
    const kept = container.children.findLastIndex((child) => (used += child.render(width).length) > height);
    container.children.splice(0, Math.max(0, kept));
    drawn = [];
  }

  return {
    add: (component) => container.addChild(component),
    above: (footer) => ({
      render(width) {
        const height = rows();
        if (size !== "" && size !== `${width}x${height}`) forget(width, height);
        size = `${width}x${height}`;
        const lines = container.render(width);
        const gone = Math.max(0, drawn.length + footer.render(width).length - height);
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
