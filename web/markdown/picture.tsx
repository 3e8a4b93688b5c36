import { X } from "lucide-react";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import { Sheet } from "../parts/sheet.tsx";

type PictureProps = {
  readonly address: string;
  /** What it is of. */
  readonly name: string;
  /** As it is; absent: a box of a fixed height stands there, so that nothing jumps. */
  readonly width?: number;
  readonly height?: number;
  readonly isSmall?: boolean;
};

/** A picture that opens large. */
export function PictureButton({ address, name, width, height, isSmall = false }: PictureProps) {
  const [isLarge, setLarge] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p className="text-sm text-muted">{t`${name} is no longer available.`}</p>;
  // Drawn here, in the colours of the theme, and as large as it says.
  const isDrawn = width !== undefined;
  const look = isDrawn ? "picture-drawn" : isSmall ? "picture-small" : "picture-boxed";
  return (
    <>
      <button
        type="button"
        className={`picture ${look}`}
        aria-label={t`Enlarge ${name}`}
        onClick={() => setLarge(true)}
      >
        <img src={address} alt={name} width={width} height={height} loading="lazy" onError={() => setBroken(true)} />
      </button>
      {isLarge && (
        <LargePicture address={address} name={name} look={isDrawn ? look : ""} onClose={() => setLarge(false)} />
      )}
    </>
  );
}

type LargeProps = {
  readonly address: string;
  readonly name: string;
  readonly look: string;
  readonly onClose: () => void;
};

function LargePicture({ address, name, look, onClose }: LargeProps) {
  return (
    <Sheet name={name} look="picture-dialog" onClose={onClose}>
      <div className="flex items-center gap-2 pb-2 text-sm">
        <span className="min-w-0 grow truncate">{name}</span>
        <button type="button" className="icon-button" aria-label={t`Close`} onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <img src={address} alt={name} className={look} onClick={onClose} />
    </Sheet>
  );
}
