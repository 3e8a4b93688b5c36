import { fillInstructions, fillPrompt } from "../../agents/prompt-placeholders.ts";
import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelMessage, ToolSchema } from "../../protocol/agents/models.ts";
import { searchName } from "../../tools/core/search-tools.ts";
import { argumentsOf } from "../text/call-arguments.ts";
import { describeTools } from "../prompt/describe-tools.ts";
import { noAnswer } from "../log/account.ts";
import { tokensOfMessages } from "../log/estimate-tokens.ts";
import { limitOf } from "../limits/limits.ts";
import type { ParsedAnswer, StepOptions, Turn } from "../contract/turn.ts";
import {
  actionFormat,
  addedQuery,
  invalidActionQuery,
  promptAfter,
  repairPrompt,
  taskQuery,
  toolQuery,
  unknownAgentQuery,
  unknownToolQuery,
  withoutSystem,
} from "./json-actions-prompt.ts";
import { parseAction, type Action } from "./json-actions-parse.ts";

import { actionSteps, repairKey, type ActionStep } from "./json-actions-steps.ts";

const stepsUsedUp = "[MAX STEPS REACHED - No final answer provided]";

/** The agents that can act and their tools; fixed for the whole run. */
type Actors = {
  readonly agents: readonly { readonly agent: AgentDefinition; readonly tools: readonly ToolSchema[] }[];
  readonly known: { readonly tools: readonly string[]; readonly agents: readonly string[] };
};

/** The agent that acts next, and its query within a number of tokens; the first query is the user's message. */
type NextActor = { readonly agent: AgentDefinition; readonly query?: (room: number) => string };

type ActionOptions = StepOptions & { readonly then: (room: number) => readonly ModelMessage[] };

/** Share of the remaining context for a query; the context log gets the rest. */
const ofQuery = 0.6;

/** Decisions so far. `unclear`: a reply without an action, to be asked again. */
type ActionHistory = { readonly steps: readonly ActionStep[]; readonly unclear?: ActionStep };

/**
 * One agent at a time decides with a JSON action: use a tool, hand over to another agent, or answer. If an action can't be
 * done, the agent that the run started with continues.
 */
export async function jsonActions(turn: Turn): Promise<void> {
  const ask = createAsk(turn);
  for (;;) {
    const { openCalls, answer } = turn.fold;
    if (answer) return;
    if (openCalls.length > 0) {
      await turn.call(openCalls);
      continue;
    }
    // Tools that a search found are known from then on.
    const cast = castOf(turn);
    const situation = situationOf(turn, cast);
    const { steps, unclear } = situation;
    const number = steps.length + 1;
    const key = unclear ? repairKey(number) : String(number);
    if (!(await ask(key, optionsFor(turn, cast, situation)))) {
      const text = unclear ? unclear.action.answer || noAnswer : stepsUsedUp;
      return await turn.say("steps-used-up", text, { final: true });
    }
  }
}
jsonActions.prompts = ["json_actions_repair"];
jsonActions.handsOver = true as const;

function situationOf({ fold }: Turn, { known }: Actors): ActionHistory {
  const steps = actionSteps(fold.items, known);
  const last = steps.at(-1);
  return last?.unclear === undefined ? { steps } : { steps: steps.slice(0, -1), unclear: last };
}

function optionsFor(turn: Turn, cast: Actors, { steps, unclear }: ActionHistory): ActionOptions {
  const { agent, query } = nextAfter(turn, cast, steps);
  const messagesAfter = (room: number) => {
    const left = room - tokensOfMessages(repair);
    return [...promptAfter(steps, query?.(left * ofQuery), left), ...repair];
  };
  const tools = cast.agents.find((one) => one.agent.id === agent.id)?.tools ?? [];
  const others = cast.agents.map((one) => one.agent).filter(({ id }) => id !== agent.id);
  const repair = unclear ? repairPrompt(unclear.unclear ?? "", repairRequest(turn, unclear)) : [];
  return {
    as: agent,
    final: true,
    withoutTools: true,
    instructions: fillInstructions(agent.instructions, { tools: describeTools(tools), agents: describeAgents(others) }),
    then: messagesAfter,
    format: actionFormat({ tools: tools.map(({ name }) => name), agents: others.map(({ id }) => id) }),
    read(text) {
      const action = parseAction(text, cast.known);
      if (!action.problem) return readingOf(action, tools);
      if (unclear) return { answer: unclear.action.answer || action.answer || noAnswer };
      return stepsLeft(turn) > 1 ? {} : readingOf(action, tools);
    },
  };
}

/**
 * Makes the steps of a run; false: none is left. From its first refusal on a provider is asked in the plainest form: without
 * a schema, and with one message for context and query. Each process that takes the run up finds that out anew.
 */
function createAsk(turn: Turn): (key: string, options: ActionOptions) => Promise<boolean> {
  let isPlain = false;
  const ask = async (key: string, options: ActionOptions) => {
    const { format: _, then, ...rest } = options;
    const plain: StepOptions = { ...rest, then: (room) => withoutSystem(then(room)) };
    if (isPlain) return await turn.step(key, plain);
    try {
      await turn.step(key, options);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== "refused") throw error;
      await turn.step(key, plain);
      isPlain = true;
    }
  };
  return async (key, options) => {
    if (stepsLeft(turn) < 1) return false;
    try {
      await ask(key, options);
      return true;
    } catch (error) {
      // Tries that were refused, or cut off with a process, are used up as well.
      if (turn.run.limits.onLimit === "stop" && limitOf(error) === "steps") return false;
      throw error;
    }
  };
}

/** Returns the steps left before the hard stop. Without one, people decide at the limit. */
function stepsLeft({ run, fold }: Turn): number {
  return run.limits.onLimit === "stop" ? run.limits.steps - fold.steps : Number.POSITIVE_INFINITY;
}

function readingOf(action: Action, tools: readonly ToolSchema[]): ParsedAnswer {
  if (action.action === "final") return { answer: action.answer || noAnswer };
  const tool = action.action === "use_tool" ? tools.find(({ name }) => name === action.tool) : undefined;
  if (!tool) return {};
  const written = action.input === undefined ? JSON.stringify(action.args) : argumentsOf(action.input, tool.parameters);
  return { calls: [{ name: tool.name, arguments: written }] };
}

function nextAfter(turn: Turn, cast: Actors, steps: readonly ActionStep[]): NextActor {
  const { agent: first, input } = turn.run;
  const last = steps.at(-1);
  if (!last) return { agent: first };
  const { action, calls } = last;
  const agentOf = (id: string | null) => cast.agents.find(({ agent }) => agent.id === id)?.agent;
  if (calls.length > 0) return { agent: agentOf(last.agent) ?? first, query: (room) => toolQuery(calls, room) };
  if (action.action === "final") return { agent: agentOf(last.agent) ?? first, query: () => addedQuery };
  if (action.action === "use_tool") return { agent: first, query: () => unknownToolQuery(last) };
  if (action.action !== "delegate") return { agent: first, query: () => invalidActionQuery(last) };
  const target = agentOf(action.targetAgent);
  return target
    ? { agent: target, query: (room) => taskQuery(last, input, room) }
    : { agent: first, query: () => unknownAgentQuery(last) };
}

function castOf({ run: { agent, team, tools } }: Turn): Actors {
  const members = team.map((member) => ({
    agent: member.agent,
    tools: tools.filter(({ name }) => member.tools.includes(name) || name === searchName),
  }));
  const agents = [{ agent, tools }, ...members];
  return {
    agents,
    known: { tools: tools.map(({ name }) => name), agents: agents.map((one) => one.agent.id) },
  };
}

function describeAgents(agents: readonly AgentDefinition[]): string {
  return agents.map(({ id, description }) => `- ${id}${description && `: ${description}`}`).join("\n") || "(none)";
}

function repairRequest({ run }: Turn, { action }: ActionStep): string {
  const reason = action.problem === "cut-off" ? "it was cut off." : "it contains no JSON object.";
  return fillPrompt(run.prompts["json_actions_repair"] ?? "", { reason });
}
