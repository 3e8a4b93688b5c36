import { createHmac } from "node:crypto";
import { inputRequired, type InputRequests, ProtocolError, type CallToolResult } from "@modelcontextprotocol/server";
import type { McpCall, McpPrompt, McpResources, McpSurface, McpTool } from "../../src/http/mcp/server-features.ts";
import { png } from "./fixture-tools.ts";

const text = (content: string): CallToolResult => ({ content: [{ type: "text", text: content }] });
const form = (message: string, name: string, property: { type: "string" } | { type: "boolean" } = { type: "string" }) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [name]: property }, required: [name] },
  });
const sampling = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens });

/** Asks until the client brings all answers, then tells them. */
function asking(name: string, inputRequests: InputRequests, state?: string): McpTool {
  const isAnswered = (answers: McpCall["answers"], key: string) => {
    const answer = answers[key];
    return typeof answer === "object" && ("content" in answer || "roots" in answer || "action" in answer);
  };
  return {
    definition: { name, description: `Fixture ${name}`, inputSchema: { type: "object" } },
    async call({ answers, state: returned }) {
      const missing = Object.keys(inputRequests).some((key) => !isAnswered(answers, key));
      if (missing) return inputRequired({ inputRequests, ...(state !== undefined && { requestState: state }) });
      if (returned !== state) throw new ProtocolError(-32602, "This state is not the one that was given out.");
      return text(`state-ok ${JSON.stringify(answers)}`);
    },
  };
}

const signed = `state.${createHmac("sha256", "of the tests").update("state").digest("hex")}`;
const confirmation = form("Please confirm", "ok", { type: "boolean" });
const userName = { user_name: form("What is your name?", "name") };

const multiRound: McpTool = {
  definition: {
    name: "test_input_required_result_multi_round",
    description: "Asks twice.",
    inputSchema: { type: "object" },
  },
  async call({ answers, state }) {
    if (state === "2" && answers["step2"]) return text("done");
    return state === "1" && answers["step1"]
      ? inputRequired({
          inputRequests: { step2: form("Step 2: What is your favorite color?", "color") },
          requestState: "2",
        })
      : inputRequired({ inputRequests: { step1: form("Step 1: What is your name?", "name") }, requestState: "1" });
  },
};

/** Offers each way to ask only to a client that can be asked so. */
const capable: McpTool = {
  definition: {
    name: "test_input_required_result_capabilities",
    description: "Asks in the way the client can be asked.",
    inputSchema: { type: "object" },
  },
  async call({ canElicit }) {
    return inputRequired({ inputRequests: canElicit ? userName : { summary: sampling("What is this?", 50) } });
  },
};

const askingTools: readonly McpTool[] = [
  asking("test_input_required_result_elicitation", userName),
  asking("test_streaming_elicitation", userName),
  asking("test_missing_capability", { summary: sampling("What is this?", 50) }),
  {
    definition: { name: "test_logging_tool", description: "Has nothing to log.", inputSchema: { type: "object" } },
    call: async () => text("done"),
  },
  asking("test_input_required_result_sampling", { capital_question: sampling("What is the capital of France?", 100) }),
  asking("test_input_required_result_list_roots", { client_roots: inputRequired.listRoots() }),
  asking("test_input_required_result_request_state", { confirm: confirmation }, signed),
  asking("test_input_required_result_tampered_state", { confirm: confirmation }, signed),
  asking(
    "test_input_required_result_multiple_inputs",
    { ...userName, greeting: sampling("Generate a greeting", 50), client_roots: inputRequired.listRoots() },
    signed,
  ),
  multiRound,
  capable,
];

function prompt(name: string, names: readonly string[], get: McpPrompt["get"]): McpPrompt {
  const args = names.map((each) => ({ name: each, description: each, required: true }));
  return { definition: { name, description: `Fixture ${name}`, arguments: args }, get };
}

const prompts: readonly McpPrompt[] = [
  prompt("test_simple_prompt", [], async () => ({
    messages: [{ role: "user", content: { type: "text", text: "This is a simple prompt for testing." } }],
  })),
  prompt("test_prompt_with_arguments", ["arg1", "arg2"], async ({ arg1, arg2 }) => ({
    messages: [
      { role: "user", content: { type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` } },
    ],
  })),
  prompt("test_prompt_with_embedded_resource", ["resourceUri"], async ({ resourceUri = "" }) => ({
    messages: [
      {
        role: "user",
        content: { type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded." } },
      },
      { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
    ],
  })),
  prompt("test_prompt_with_image", [], async () => ({
    messages: [
      { role: "user", content: { type: "image", data: png, mimeType: "image/png" } },
      { role: "user", content: { type: "text", text: "Please analyze the image above." } },
    ],
  })),
];

const resources: McpResources = {
  list: async () => ({
    resources: [
      { uri: "test://static-text", name: "text", description: "A text", mimeType: "text/plain" },
      { uri: "test://static-binary", name: "picture", description: "A picture", mimeType: "image/png" },
    ],
  }),
  templates: [
    {
      name: "template",
      description: "A template",
      uriTemplate: "test://template/{id}/data",
      mimeType: "application/json",
    },
  ],
  async read(uri) {
    if (uri === "test://static-text")
      return { contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }] };
    if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: png }] };
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    if (id === undefined) return undefined;
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(data) }] };
  },
};

/** Colloquy's own surface with what the suites look for besides tools of the registry. */
export function fixtureSurface(own: McpSurface): McpSurface {
  return {
    ...own,
    tools: async () => [...(await own.tools()), ...askingTools],
    prompts: [...(own.prompts ?? []), ...prompts],
    resources,
  };
}
