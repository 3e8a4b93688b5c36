import type { ModelSettings } from "../protocol/models.ts";
import type { ToolSetting, ToolSettings } from "../protocol/tool-settings.ts";
import type { StepRequest, Tool } from "../protocol/tools.ts";
import { defaultTimeoutMs } from "./define-tool.ts";
import { selectsByGlobs } from "./glob.ts";

/** Makes of each tool what the operator set; undefined: there is no such tool here. The same of the same. */
export function createSettler({
  available,
  defaultTimeoutSeconds,
  byName,
}: ToolSettings): (tool: Tool) => Tool | undefined {
  const isAvailable = available ? selectsByGlobs(available) : () => true;
  const settled = new WeakMap<Tool, Tool>();
  return (tool) => {
    const setting = Object.hasOwn(byName, tool.name) ? byName[tool.name]! : {};
    if (setting.enabled === false || !isAvailable(tool.name)) return undefined;
    const known = settled.get(tool);
    if (known) return known;
    const made = settle(tool, setting, defaultTimeoutSeconds);
    settled.set(tool, made);
    return made;
  };
}

function settle(tool: Tool, { timeout, model, temperature }: ToolSetting, usual: number | undefined): Tool {
  // Who asks for just the usual time is taken for one that asks for none.
  const seconds = timeout ?? (tool.timeoutMs === defaultTimeoutMs ? usual : undefined);
  const timed = seconds === undefined ? tool : { ...tool, timeoutMs: Math.ceil(seconds * 1000) };
  if (model === undefined && temperature === undefined) return timed;
  const settings: ModelSettings = temperature === undefined ? {} : { temperature };
  const asSet = (request: StepRequest): StepRequest => ({
    ...request,
    ...(model === undefined ? {} : { model }),
    settings: { ...request.settings, ...settings },
  });
  return {
    ...timed,
    execute: (input, context) =>
      tool.execute(input, { ...context, step: (request, signal) => context.step(asSet(request), signal) }),
  };
}
