/** What a robots.txt says to this program. */
export type RobotsRules = {
  readonly allows: (pathAndQuery: string) => boolean;
  /** Seconds it wants between two requests. */
  readonly delaySeconds?: number;
};

type RobotsRule = {
  readonly allow: boolean;
  readonly length: number;
  /** What stands between its stars. */
  readonly parts: readonly string[];
  /** It is about the whole path. */
  readonly isWhole: boolean;
};

export const noRules: RobotsRules = { allows: () => true };

const maxLines = 20_000;
const maxRules = 2000;
const longestDelay = 30;

/**
 * RFC 9309: the groups that name this program, else those for all; of the rules that fit, the longest counts, and of two as
 * long the one that allows.
 */
export function readRobots(text: string, program: string): RobotsRules {
  const named: RobotsRule[] = [];
  const general: RobotsRule[] = [];
  const delays = new Map<RobotsRule[], number>();
  let isNamed = false;
  let groups: RobotsRule[][] = [];
  let inAgents = false;
  for (const line of text.split(/\r\n|\r|\n/, maxLines)) {
    const [, field, given = ""] = /^\s*([a-z-]+)\s*:([^#]*)/i.exec(line) ?? [];
    if (field === undefined) continue;
    const value = given.trim();
    const key = field.toLowerCase();
    if (key === "user-agent") {
      if (!inAgents) groups = [];
      inAgents = true;
      const agent = value.toLowerCase().split("/")[0]!;
      if (agent === program) {
        isNamed = true;
        groups.push(named);
      } else if (agent === "*") groups.push(general);
    } else if (key === "allow" || key === "disallow") {
      inAgents = false;
      // An empty one says nothing.
      if (value !== "") for (const group of new Set(groups)) addRule(group, { allow: key === "allow", path: value });
    } else if (key === "crawl-delay") {
      inAgents = false;
      const seconds = Number(value);
      if (seconds > 0) for (const group of groups) delays.set(group, Math.min(seconds, longestDelay));
    }
  }
  const rules = isNamed ? named : general;
  const delaySeconds = delays.get(rules);
  return { allows: (path) => isAllowed(rules, path), ...(delaySeconds === undefined ? {} : { delaySeconds }) };
}

function addRule(group: RobotsRule[], { allow, path }: { readonly allow: boolean; readonly path: string }): void {
  const isPath = path.startsWith("/") || path.startsWith("*");
  if (!isPath || path.length > 1000 || group.length >= maxRules) return;
  const parts = path.replace(/\$$/, "").split(/\*+/).map(decoded);
  group.push({ allow, length: path.length, parts, isWhole: path.endsWith("$") });
}

function isAllowed(rules: readonly RobotsRule[], path: string): boolean {
  const plain = decoded(path).slice(0, 2000);
  let best: RobotsRule | undefined;
  for (const rule of rules) {
    if (best && (rule.length < best.length || (rule.length === best.length && best.allow))) continue;
    if (fits(rule, plain)) best = rule;
  }
  return best?.allow ?? true;
}

/** Each part at its first place behind the one before, which finds a fit if there is one, in time that grows with the path alone. */
function fits({ parts: [first = "", ...others], isWhole }: RobotsRule, path: string): boolean {
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = isWhole ? others.pop() : undefined;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
