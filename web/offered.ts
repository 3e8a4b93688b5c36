import { useFeatures } from "./features.ts";
import { useMe } from "./me.ts";
import { type View, views } from "./pages.tsx";

/** The views that are of use to whoever looks at the page, on this server. */
export function useOffered(): readonly View[] {
  const me = useMe();
  const features = useFeatures();
  return views.filter(
    ({ isForAdmins = false, needs }) =>
      (!isForAdmins || me?.role === "admin") && (needs === undefined || features.has(needs)),
  );
}
