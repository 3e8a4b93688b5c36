import { useState } from "react";
import { t } from "@lingui/core/macro";
import { copyText } from "../browser/copy-text.ts";
import { Act } from "../parts/action-button.tsx";

/** Copies what may have to be asked for first, as JSON; says so when it is done. */
export function CopyJson({ load }: { readonly load: () => Promise<unknown> }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Act onAct={async () => setCopied(await copyText(JSON.stringify(await load(), null, 2)))}>
      {isCopied ? t`Copied` : t`Copy as JSON`}
    </Act>
  );
}
