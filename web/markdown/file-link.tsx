import { type ReactNode, useEffect, useState } from "react";
import { createWorkspaceFileClient } from "../../src/client/files.ts";
import { server } from "../page/server.ts";
import { addressOfFile } from "./made-files.ts";

/** Whether an address that an agent wrote is none of the web's, but the path of a file, a place in the text or nothing at all. */
export function isRelative(address: string): boolean {
  return !/^(\/|[a-z][a-z0-9+.-]*:)/i.test(address);
}

/** As deep as a server looks. */
const maxFolders = 64;

/** The path in the workspace that a relative address can mean. */
function pathIn(address: string): string | undefined {
  if (/[?#]/.test(address)) return undefined;
  try {
    const path = decodeURIComponent(address).replace(/^(\.\/)+/, "");
    return path === "" || path.endsWith("/") || path.split("/").length > maxFolders || path.split("/").includes("..")
      ? undefined
      : path;
  } catch {
    return undefined;
  }
}

type FileLinkProps = {
  /** Where the files are; absent: there are none. */
  readonly root: string | undefined;
  readonly address: string;
  readonly isLive: boolean;
};

/** A file of the conversation, as an agent likes to name what it made; where there is none, the words alone. */
export function FileLink({ root, address, isLive, children }: FileLinkProps & { readonly children?: ReactNode }) {
  const path = useFile(root, address, isLive);
  if (root === undefined || path === undefined) return children;
  return (
    <a href={addressOfFile(root, path)} download={nameOf(path)} className="text-accent underline">
      {children}
    </a>
  );
}

/** The same of a picture. */
export function FilePicture({ root, address, isLive, alt }: FileLinkProps & { readonly alt: string | undefined }) {
  const path = useFile(root, address, isLive);
  if (root === undefined || path === undefined) return alt || address;
  return <img src={addressOfFile(root, path)} alt={alt ?? ""} loading="lazy" className="max-w-full rounded-card" />;
}

/** Its path once it is known that it is there; looked for again when the text has ended, since it may have been made meanwhile. */
function useFile(root: string | undefined, address: string, isLive: boolean): string | undefined {
  const path = pathIn(address);
  const [found, setFound] = useState<string>();
  useEffect(() => {
    if (root === undefined || path === undefined) return undefined;
    let isOvertaken = false;
    void filesLike(root, path).then((paths) => {
      if (!isOvertaken) setFound(paths.has(path) ? path : undefined);
    });
    return () => {
      isOvertaken = true;
    };
  }, [root, path, isLive]);
  return found === path ? found : undefined;
}

/** What is asked at this moment: of many files it is one request. */
const asking = new Map<string, Promise<ReadonlySet<string>>>();

/** The files that lie as deep as this one, as far as a server lists them; none where they can't be read. */
function filesLike(root: string, path: string): Promise<ReadonlySet<string>> {
  const depth = path.split("/").length;
  const key = `${root} ${depth}`;
  const asked = asking.get(key);
  if (asked) return asked;
  const paths = createWorkspaceFileClient(server, `/${root}`)
    .list({ depth })
    .then(
      ({ data }) => new Set(data.flatMap((file) => (file.kind === "file" ? [file.path] : []))),
      // Its words are there in any case.
      () => new Set<string>(),
    )
    .finally(() => asking.delete(key));
  asking.set(key, paths);
  return paths;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
