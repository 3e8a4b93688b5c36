/** Some dozens of lines, cut at the end of one where there is one. */
const stretch = /[^]{1,4000}(?:\n|$)|[^]{1,4000}(?:\s|$)|[^]{1,4000}/g;

/** A text as it is. A long one stands in several boxes: only those that are near are laid out. */
export function RawText({ text }: { readonly text: string }) {
  return (text.match(stretch) ?? []).map((piece, at) => (
    <p key={at} dir="auto" className="raw-text">
      {piece}
    </p>
  ));
}
