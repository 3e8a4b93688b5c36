import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientName } from "../clients/proven.ts";
import { blocksOf } from "../doc-pages.ts";
import type { ServerCall } from "../model-servers/answers.ts";
import { type Installed, installed } from "./install.ts";

export type Place = { readonly home: string; readonly work: string; readonly url: string; readonly model: string };
export type Invocation = { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

type Program = {
  readonly client: ClientName;
  readonly version: string;
  readonly spec: string;
  readonly path: string;
  /** Writes the configuration that the documentation shows. */
  configure(place: Place): Invocation;
  /** How a model asks for a command of its own shell. */
  shell(command: string): ServerCall;
  /** What it sends as `x-stainless-retry-count` when it asks again; undefined: no header says so. */
  readonly retryCount?: string;
};
export type ProgramName = "codex" | "claude" | "opencode";

const { arch } = process;
const codex = "0.171.0";
const claude = "2.1.332";
const opencode = "1.18.33";
const opencodePackage = `opencode-linux-${arch === "x64" ? "x64-baseline" : arch}`;

/** Their packages for this machine, since what stands before them fetches these by scripts of its own. */
export const programs: Readonly<Record<ProgramName, Program>> = {
  codex: {
    client: "Codex CLI",
    version: codex,
    spec: `@openai/codex@${codex}-linux-${arch}`,
    path: `@openai/codex/vendor/${arch === "x64" ? "x86_64" : "aarch64"}-unknown-linux-musl/bin/codex`,
    configure(place) {
      writeFileSync(join(place.home, "config.toml"), shown("docs/responses.md", "model_provider", place));
      const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
      return { args, env: { CODEX_HOME: place.home } };
    },
    shell: (cmd) => ({ name: "exec_command", arguments: { cmd } }),
  },
  claude: {
    client: "Claude Code",
    version: claude,
    spec: `@anthropic-ai/claude-code-linux-${arch}@${claude}`,
    path: `@anthropic-ai/claude-code-linux-${arch}/claude`,
    configure(place) {
      const exported = shown("docs/messages-api.md", "ANTHROPIC_BASE_URL", place).matchAll(/\b([A-Z_]+)=(\S+)/g);
      const env = Object.fromEntries([...exported].map(([, name, value]) => [name!, value!]));
      // As root it leaves its questions out in a sandbox only.
      const more = { IS_SANDBOX: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
      return { args: ["-p", "--dangerously-skip-permissions"], env: { ...env, ...more } };
    },
    shell: (command) => ({ name: "Bash", arguments: { command, description: "Runs it" } }),
    // It has tries of its own, each of which is the first one for its library.
    retryCount: "0",
  },
  opencode: {
    client: "opencode",
    version: opencode,
    spec: `${opencodePackage}@${opencode}`,
    path: `${opencodePackage}/bin/opencode`,
    configure(place) {
      const settings = shown("docs/openai-api.md", "opencode.ai", place);
      writeFileSync(join(place.work, "opencode.json"), settings);
      return { args: ["run"], env: { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" } };
    },
    shell: (command) => ({ name: "bash", arguments: { command, description: "Runs it" } }),
  },
};

/** The block of a page that has this word, with our address and model. */
function shown(page: string, word: string, { url, model }: Place): string {
  const block = blocksOf(page).find(({ text }) => text.includes(word));
  if (!block) throw new Error(`${page} shows nothing with ${word}`);
  const { text } = block;
  const small = text.includes("assistant") ? "default" : model;
  return text.replaceAll("http://localhost:8000", url).replaceAll("your-model", small).replaceAll("assistant", model);
}

/** Its executable, and why it is not there. */
export function installProgram(name: ProgramName): Pick<Installed, "skip"> & { readonly path: string } {
  const { spec, version, path } = programs[name];
  if (process.platform !== "linux" || !["x64", "arm64"].includes(arch))
    return { path: "", skip: `${name} is tested on Linux for x64 and arm64` };
  const { folder, skip } = installed({ name: `${name}-${version}`, spec });
  return { path: join(folder, "node_modules", path), skip };
}
