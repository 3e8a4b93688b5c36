import { ColloquyError, Conflict, InvalidInput, NotFound, Unavailable } from "../../protocol/base/errors.ts";
import { shownPath } from "./path.ts";

/** The file system's error code; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Translates a file system error for people, models and clients. It never contains paths of this machine. */
export function fileErrorOf(error: unknown, path: string): unknown {
  if (error instanceof ColloquyError) return error;
  const shown = shownPath(path);
  const options = { cause: error };
  switch (codeOf(error)) {
    case "ENOENT":
      return noFile(path, options);
    case "ENOTDIR":
    case "ELOOP":
      return new Conflict(
        `${shown} can't be reached: a part of its path is a file or a link; links are not followed.`,
        {
          code: "not_a_folder",
          ...options,
        },
      );
    case "EISDIR":
    case "EEXIST":
    case "ENOTEMPTY":
      return isFolder(path, options);
    case "EACCES":
    case "EPERM":
      return new Conflict(`${shown} is protected: its permissions forbid that.`, {
        code: "file_protected",
        ...options,
      });
    case "ENAMETOOLONG":
      return new InvalidInput(`${shown} is too long.`, { code: "file_path_invalid", ...options });
    case "ENOSPC":
    case "EDQUOT":
      return new Unavailable("The server has no disk space left; nothing was written.", {
        code: "disk_full",
        ...options,
      });
    default:
      return error;
  }
}

export function noFile(path: string, options?: ErrorOptions): NotFound {
  return new NotFound(`File ${shownPath(path)} not found in the workspace.`, { code: "file_not_found", ...options });
}

export function isFolder(path: string, options?: ErrorOptions): Conflict {
  return new Conflict(`${shownPath(path)} is a folder.`, { code: "is_a_folder", ...options });
}

export function notRegular(path: string): Conflict {
  return new Conflict(`${shownPath(path)} is not a regular file; links, pipes and devices are not read.`, {
    code: "not_a_file",
  });
}
