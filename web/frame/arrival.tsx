import { useEffect, useState } from "react";

let last: string | undefined;

/** Stands behind a view: when another one is shown, its heading gets the focus, and its title is read out. */
export function Arrival({ place, title }: { readonly place: string; readonly title: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const isFirst = last === undefined;
    const isSame = last === place;
    last = place;
    if (isFirst || isSame) return;
    setSaid(title);
    const main = document.getElementById("main");
    // A field that wants the focus has taken it.
    if (!main || main.querySelector(":focus")) return;
    const target = main.querySelector<HTMLElement>("h1") ?? main;
    if (target.tabIndex < 0) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }, [place, title]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
