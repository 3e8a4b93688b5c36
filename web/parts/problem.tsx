/** Why something failed, where it failed; lines stay lines. */
export function Problem({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p role="alert" className="text-sm whitespace-pre-wrap text-bad">
      {text}
    </p>
  );
}
