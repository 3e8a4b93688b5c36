/**
 * Asks the registry for known holes in what package-lock.json names: high and critical ones fail, unless audit-allow.json says why
 * they may stay, and until when. Where no registry answers (none reachable, or one that keeps no advisories) nothing is
 * audited, which is said and passes.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { npmCommand } from "./packages.mjs";

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const seconds = Number(process.argv[3] ?? 30);
const grave = new Set(["high", "critical"]);

const { findings, reason } = readReport(await runAudit());
if (reason !== undefined) {
  console.log(`not audited: ${reason}`);
} else {
  const problems = judge(findings, readAllowed(), new Date().toISOString().slice(0, 10));
  for (const problem of problems) console.error(problem);
  const lesser = findings.filter(({ severity }) => !grave.has(severity)).length;
  console.log(`${findings.length} known holes, ${lesser} of them below high`);
  if (problems.length > 0) process.exitCode = 1;
}

/** What npm says, or nothing when it takes too long. */
function runAudit() {
  const [command, ...before] = npmCommand();
  const bounds = ["--fetch-retries=0", `--fetch-timeout=${Math.round(seconds * 500)}`];
  const args = [...before, "audit", "--json", "--package-lock-only", "--loglevel=silent", ...bounds];
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
    let output = "";
    child.stdout.on("data", (piece) => (output += piece));
    child.on("error", ({ message }) => resolve({ failed: `npm can't be started (${message})` }));
    child.on("close", (_code, signal) => {
      clearTimeout(timer);
      resolve(signal ? { failed: `the registry did not answer within ${seconds} s` } : { output });
    });
  });
}

function readReport({ failed, output }) {
  if (failed) return { reason: failed };
  let report;
  try {
    report = JSON.parse(output);
  } catch {
    return { reason: "npm gave no report" };
  }
  const said = report.message ?? report.error?.summary;
  if (!report.vulnerabilities) return { reason: said ? `the registry answered: ${said}` : "npm gave no report" };
  // A package is also listed for what it depends on; only what has an advisory of its own counts.
  const own = Object.values(report.vulnerabilities).flatMap(({ via }) => via.filter((one) => typeof one === "object"));
  const byId = new Map(own.map((one) => [idOf(one), { ...one, id: idOf(one) }]));
  return { findings: [...byId.values()] };
}

/** GHSA-… where there is one. */
function idOf({ url, source }) {
  return /GHSA(-[a-z0-9]{4}){3}/.exec(url ?? "")?.[0] ?? String(source);
}

/** `[{ "id": "GHSA-…", "package": "…", "reason": "…", "until": "2027-01-31" }]` */
function readAllowed() {
  try {
    return JSON.parse(readFileSync(join(root, "audit-allow.json"), "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

function judge(found, allowed, today) {
  const incomplete = allowed.filter(
    ({ id, reason, until }) => !id || !reason || !/^\d{4}-\d\d-\d\d$/.test(until ?? ""),
  );
  const problems = incomplete.map(
    (entry) => `audit-allow.json: id, reason and until (a date): ${JSON.stringify(entry)}`,
  );
  for (const { id, name, severity, title, url } of found.filter((one) => grave.has(one.severity))) {
    const entry = allowed.find((one) => one.id === id && (one.package === undefined || one.package === name));
    if (entry && entry.until >= today) continue;
    const over = entry ? ` (allowed until ${entry.until})` : "";
    problems.push(`${severity}: ${name}: ${title} ${url}${over}`);
  }
  return problems;
}
