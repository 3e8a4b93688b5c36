import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Tool, ToolContext } from "../../protocol/agents/tools.ts";
import { defineTool } from "./define-tool.ts";
import { deferTools, foundTools, searchTool } from "./search-tools.ts";

function tool(name: string, description: string, source = "mcp:github"): Tool {
  const made = defineTool({
    name,
    description,
    input: z.object({ repository: z.string() }),
    effect: "read",
    execute: () => "",
  });
  return { ...made, source };
}

const many = [
  tool("github_create_issue", "Opens a new issue in a repository."),
  tool("github_list_issues", "Lists the issues of a repository, newest first."),
  tool("github_merge_pull_request", "Merges a pull request."),
  tool("weather_getForecast", "The weather of the next days at a place.", "mcp:weather"),
  tool("now", "The time.", "built-in"),
];

async function search(query: string, limit = 5): Promise<string[]> {
  const found = await searchTool(many).execute({ query, limit }, {} as ToolContext);
  return foundTools(found.data).map(({ name }) => name);
}

test("up to the bound all tools are offered; above it those of MCP servers are found by searching, but for named ones", () => {
  const all = deferTools(many, { above: 5, named: [] });
  assert.deepEqual([all.offered, all.deferred], [many, []]);
  const split = deferTools(many, { above: 4, named: ["github_*", "weather_getForecast"] });
  assert.deepEqual(
    split.offered.map(({ name }) => name),
    ["weather_getForecast", "now", "search_tools"],
  );
  assert.equal(split.deferred.length, 3);
  assert.match(
    split.offered.at(-1)!.description,
    /They are: github_create_issue, github_list_issues, github_merge_pull_request\./,
  );
  const own = many.map((each) => ({ ...each, source: "built-in" }));
  assert.deepEqual(deferTools(own, { above: 1, named: [] }), { offered: own, deferred: [] });
});

test("tools are found by words of their names and descriptions, in any form, and by their very names", async () => {
  assert.deepEqual((await search("list issues"))[0], "github_list_issues");
  assert.deepEqual((await search("opening an issue"))[0], "github_create_issue");
  assert.deepEqual(await search("forecast"), ["weather_getForecast"]);
  assert.deepEqual((await search("github_merge_pull_request"))[0], "github_merge_pull_request");
  assert.deepEqual((await search("issue", 1)).length, 1);
  assert.deepEqual(await search("xylophone"), []);
});

test("what is found comes with its schema for the next step; of many only the servers are named", async () => {
  const { content, data } = await searchTool(many).execute({ query: "forecast", limit: 5 }, {} as ToolContext);
  assert.match(content, /^weather_getForecast: The weather [^\n]*$/);
  assert.deepEqual(foundTools(data)[0]?.parameters, many[3]!.parameters);
  assert.deepEqual(foundTools("nonsense"), []);
  const more = Array.from({ length: 31 }, () => many[0]!);
  assert.match(searchTool(more).description, /There are 31, of these servers: github \(31\)\./);
});
