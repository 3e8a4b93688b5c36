import { useEffect, useState } from "react";
import { ownerKey, pictureWithKey } from "../page/owner-key.ts";
import { client, server } from "../page/server.ts";
import { PictureButton } from "../markdown/picture.tsx";

/** A picture that a person has sent along, small. */
export function UploadedPicture({ id, name }: { readonly id: string; readonly name: string }) {
  const address = client.uploads.addressOf(id);
  const [shown, setShown] = useState(ownerKey() === undefined ? address : undefined);
  useEffect(() => {
    if (ownerKey() === undefined) return undefined;
    let isHere = true;
    let kept: string | undefined;
    void pictureWithKey(server, address).then((found = address) => {
      kept = found;
      if (isHere) setShown(found);
      else URL.revokeObjectURL(found);
    });
    return () => {
      isHere = false;
      if (kept !== undefined) URL.revokeObjectURL(kept);
    };
  }, [address]);
  return shown === undefined ? null : <PictureButton isSmall address={shown} name={name} />;
}
