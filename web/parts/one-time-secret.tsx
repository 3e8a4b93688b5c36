import { useState } from "react";
import { t } from "@lingui/core/macro";
import { copyText } from "../browser/copy-text.ts";

/** A secret that is told once. */
export function OneTimeSecretBox({
  label,
  text,
  onClose,
}: {
  readonly label: string;
  readonly text: string;
  onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div role="status" className="grid gap-2 rounded-card border border-hairline bg-raised p-3 text-sm">
      <span>{label}</span>
      <code className="break-all">{text}</code>
      <span className="flex gap-2">
        <button type="button" className="button" onClick={() => void copyText(text).then(setCopied)}>
          {isCopied ? t`Copied` : t`Copy`}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {t`Close`}
        </button>
      </span>
    </div>
  );
}
