/**
 * Packages that hold a program for one kind of machine. npm takes those that fit, and leaves out without a word those whose `engines`
 * refuse the Node.js it runs on: the page's bundler for one is then missing. Node built-ins only.
 */

/** Those of a lock file that belong on this machine, as `{ path, name, version, node }`; `node` is the range their `engines` name. */
export function nativePackages(lock, mode) {
  return Object.entries(lock?.packages ?? {})
    .filter(([, entry]) => entry.optional && (entry.os || entry.cpu) && (mode === "full" || !entry.dev))
    .filter(([, { os, cpu }]) => names(os, process.platform) && names(cpu, process.arch))
    .filter(([, { libc }]) => libc === undefined || names(libc, libcOfMachine()))
    .map(([path, { version, engines }]) => ({
      path,
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      node: engines?.node,
    }));
}

/** npm's lists: what is named, or all but what is named with a `!`. */
function names(list, value) {
  const all = [list ?? []].flat();
  const kept = all.filter((each) => !each.startsWith("!"));
  return !all.includes(`!${value}`) && (kept.length === 0 || kept.includes(value));
}

let libc;

function libcOfMachine() {
  libc ??= process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
  return libc;
}

/**
 * Whether a version of Node.js is in the range that `engines` name: `^20.19.0 || >=22.12.0`. What is written in another way counts as
 * no, since a Node.js too many costs seconds, and one too few the page.
 */
export function isInRange(version, range = "*") {
  return range.split("||").some((part) => {
    if (part.trim() === "*") return true;
    const match = /^(\^|>=)\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(part.trim());
    if (!match) return false;
    const least = match.slice(2).map((number) => Number(number ?? 0));
    const actual = version.replace("v", "").split(".").map(Number);
    const at = actual.findIndex((number, index) => number !== least[index]);
    return (at === -1 || actual[at] > least[at]) && (match[1] === ">=" || actual[0] === least[0]);
  });
}
