import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type SearchServer, startSearchServer } from "../../../test/search-servers.ts";
import { loadConfig } from "../../config/load.ts";
import { webToolsOf } from "../../app/web-tools.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { StepAnswer, StepRequest, Tool, ToolContext } from "../../protocol/agents/tools.ts";
import { executeTool, parseCall } from "../core/call-tool.ts";
import { brave } from "./brave.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import type { SearchProvider, SearchQuestion } from "./search-provider.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";
import { checkCitations } from "./websearch.ts";

const servers = {
  tavily: await startSearchServer("tavily"),
  searxng: await startSearchServer("searxng"),
  brave: await startSearchServer("brave"),
};
after(() => Promise.all(Object.values(servers).map((server) => server.close())));

const asking = { pace: createRateLimiter({ gapMs: 0, atOnce: 4 }), pauseMs: 1 };
const keys = { tavily: "tvly-right", brave: "brave-right" };
const providers = {
  tavily: (apiKey = keys.tavily) => tavily({ baseUrl: servers.tavily.url, apiKey, depth: "advanced", ...asking }),
  searxng: () =>
    searxng({ baseUrl: `${servers.searxng.url}/`, engines: ["bing", "mojeek"], language: "de", ...asking }),
  brave: (apiKey = keys.brave) => brave({ baseUrl: servers.brave.url, apiKey, country: "DE", ...asking }),
} satisfies Record<string, (key?: string) => SearchProvider>;

const never = new AbortController().signal;
const question: SearchQuestion = { query: "rivers of Peru", maxResults: 3, topic: "general" };

function reset(server: SearchServer): SearchServer {
  server.requests.length = 0;
  server.faults.length = 0;
  server.found = [];
  return server;
}

suite("providers", () => {
  test("Tavily: the question as it takes it, and what it finds", async () => {
    const server = reset(servers.tavily);
    server.found = [
      {
        title: "Marañón",
        url: "https://a.example/m#top",
        content: "A  river\nin Peru.",
        score: 0.9,
        raw_content: null,
      },
      { title: "Again", url: "https://a.example/m", content: "the same page", score: 0.8 },
      {
        title: "",
        url: "https://b.example/",
        content: "x".repeat(3000),
        published_date: "Tue, 04 Aug 2026 10:00:00 GMT",
      },
      { title: "No page", url: "javascript:alert(1)", content: "", score: 0.1 },
    ];
    const pages = await providers.tavily().search({ ...question, timeRange: "year", sites: ["a.example"] }, never);
    assert.deepEqual(pages, [
      { title: "Marañón", url: "https://a.example/m", snippet: "A river in Peru." },
      {
        title: "https://b.example/",
        url: "https://b.example/",
        snippet: `${"x".repeat(2000)}…`,
        published: "2026-08-04T10:00:00.000Z",
      },
    ]);
    const [{ method, url, body } = assert.fail()] = server.requests;
    assert.deepEqual([method, url.pathname], ["POST", "/search"]);
    assert.deepEqual(body, {
      query: "rivers of Peru",
      search_depth: "advanced",
      topic: "general",
      max_results: 3,
      include_answer: false,
      include_raw_content: false,
      time_range: "year",
      include_domains: ["a.example"],
    });
  });

  test("SearXNG: its parameters; more results than wanted are cut", async () => {
    const server = reset(servers.searxng);
    server.found = [1, 2, 3, 4].map((number) => ({
      title: `Page ${number}`,
      url: `https://${number}.example/`,
      content: null,
      engine: "bing",
      engines: ["bing"],
      positions: [number],
      publishedDate: number === 1 ? "2026-08-04T00:00:00" : null,
    }));
    const pages = await providers
      .searxng()
      .search({ ...question, topic: "news", timeRange: "day", sites: ["b.example", "c.example"] }, never);
    assert.deepEqual(
      pages.map(({ title }) => title),
      ["Page 1", "Page 2", "Page 3"],
    );
    assert.equal(pages[0]!.published?.slice(0, 4), "2026");
    assert.deepEqual(Object.fromEntries(server.requests[0]!.url.searchParams), {
      q: "rivers of Peru (site:b.example OR site:c.example)",
      format: "json",
      pageno: "1",
      categories: "news",
      time_range: "day",
      engines: "bing,mojeek",
      language: "de",
    });
  });

  test("SearXNG: when no engine answers, that is no empty list", async () => {
    reset(servers.searxng);
    await assert.rejects(
      providers.searxng().search(question, never),
      /engines.*duckduckgo: CAPTCHA; brave: timeout.*websearch\.searxng\.engines/,
    );
  });

  test("Brave: its key in its header, markup taken out of its words", async () => {
    const server = reset(servers.brave);
    server.found = [
      {
        title: "Rivers &amp; lakes",
        url: "https://a.example/",
        description: "The <strong>Amazon</strong> rises in Peru&#39;s south; 3 &lt; 4.",
        extra_snippets: ["More words."],
        age: "2 days ago",
        page_age: "2026-11-20T08:00:00",
      },
    ];
    const [page] = await providers.brave().search({ ...question, timeRange: "month" }, never);
    assert.equal(page!.title, "Rivers & lakes");
    assert.equal(page!.snippet, "The Amazon rises in Peru's south; 3 < 4. More words.");
    const { url, headers } = server.requests[0]!;
    assert.equal(headers["x-subscription-token"], "brave-right");
    assert.deepEqual(
      [url.pathname, Object.fromEntries(url.searchParams)],
      ["/res/v1/web/search", { q: "rivers of Peru", count: "3", result_filter: "web", freshness: "pm", country: "DE" }],
    );
  });

  // [provider, status, headers or body, what is said, how often it is asked]
  const refusals: [
    keyof typeof providers,
    number,
    { headers?: Record<string, string>; body?: string },
    RegExp,
    number,
  ][] = [
    ["tavily", 400, { body: '{"detail":{"error":"Query is too long."}}' }, /HTTP 400\): Query is too long\.$/, 1],
    ["tavily", 429, {}, /too many searches|Too many searches/, 3],
    ["tavily", 432, {}, /plan are used up/, 1],
    ["tavily", 433, {}, /limit for paid searches/, 1],
    ["tavily", 500, {}, /fault of its own/, 3],
    // So long nobody waits.
    ["tavily", 429, { headers: { "retry-after": "3600" } }, /Too many searches/, 1],
    ["tavily", 302, { headers: { location: "http://127.0.0.1:1/elsewhere" } }, /redirects elsewhere/, 1],
    ["searxng", 403, { body: "<html>Forbidden</html>" }, /JSON format is not enabled: add json to search\.formats/, 1],
    ["searxng", 429, {}, /limiter/, 3],
    ["searxng", 404, {}, /No SearXNG answers at this address: set websearch\.searxng\.url/, 1],
    ["brave", 429, { headers: { "x-ratelimit-remaining": "1, 0" } }, /plan are used up/, 3],
    ["brave", 429, { headers: { "x-ratelimit-remaining": "0, 900" } }, /Too many searches/, 3],
  ];
  for (const [name, status, more, said, times] of refusals)
    test(`${name} answers ${status} ${JSON.stringify(more.headers ?? "")}: said as what it is, asked ${times}×`, async () => {
      const server = reset(servers[name]);
      server.faults.push(...(Array<object>(4).fill({ status, ...more }) as typeof server.faults));
      await assert.rejects(providers[name]().search(question, never), { code: "search_failed", message: said });
      assert.equal(server.requests.length, times);
    });

  for (const name of ["tavily", "brave"] as const)
    test(`${name}: a wrong key is told with where to set it, and not shown`, async () => {
      reset(servers[name]);
      await assert.rejects(providers[name]("wrong-key").search(question, never), (error: Error) => {
        assert.match(error.message, /_API_KEY/);
        assert.doesNotMatch(error.message, /wrong-key/);
        return true;
      });
      assert.equal(servers[name].requests.length, 1);
    });

  test("after a busy moment the search is done", async () => {
    const server = reset(servers.tavily);
    server.faults.push({ status: 429, headers: { "retry-after": "0" } }, { status: 503 });
    assert.deepEqual(await providers.tavily().search(question, never), []);
    assert.equal(server.requests.length, 3);
  });

  for (const [what, body] of [
    ["no JSON", "<!doctype html>"],
    ["other JSON", '{"results":"none"}'],
    ["JSON that is cut off", '{"results":[{'],
  ] as const)
    test(`${what} is an error, asked once`, async () => {
      const server = reset(servers.tavily);
      server.faults.push({ status: 200, body });
      await assert.rejects(providers.tavily().search(question, never), { code: "search_failed" });
      assert.equal(server.requests.length, 1);
    });

  test("a gigabyte is not read; a silent one has its time, or is left when the call ends", async () => {
    const server = reset(servers.tavily);
    server.faults.push("endless", "silent");
    await assert.rejects(providers.tavily().search(question, never), { code: "answer_too_large" });
    assert.ok(server.sent() < 100 * 1024 * 1024, `${server.sent()} bytes`);
    const stop = new AbortController();
    const silent = providers.tavily().search(question, stop.signal);
    while (server.requests.length < 2) await sleep(2);
    stop.abort(new Error("cancelled"));
    await assert.rejects(silent, /cancelled/);
    server.faults.push("silent");
    const hasty = tavily({ baseUrl: server.url, apiKey: keys.tavily, depth: "basic", ...asking, timeoutMs: 50 });
    await assert.rejects(hasty.search(question, never), { code: "timeout" });
    assert.equal(server.requests.length, 3);
  });
});

suite("the tool", () => {
  const answers: string[] = [];
  const asked: StepRequest[] = [];
  const context = (change: Partial<ToolContext> = {}): ToolContext => {
    const threadId = newId();
    return {
      caller: { userId: newId(), name: "Ada", role: "user", permissions: [], via: "local" },
      threadId,
      rootThreadId: threadId,
      runId: newId(),
      call: { step: "1", index: 0 },
      signal: never,
      idempotencyKey: newId(),
      query: async () => [],
      async step(request) {
        asked.push(request);
        const text = answers.shift();
        if (text === undefined) throw new Error("the model is down");
        return { text, calls: [], finish: "stop", model: "script" } satisfies StepAnswer;
      },
      answers: [],
      ownHeaders: () => ({}),
      progress: () => {},
      ...change,
    };
  };
  const toolOf = (environment: Record<string, string>): Tool => {
    const config = loadConfig({
      env: { COLLOQUY_WEBSEARCH__TAVILY__BASE_URL: servers.tavily.url, ...environment },
      cwd: "/",
    });
    const prompt = async ({ question, results }: Readonly<Record<string, string>>) => `Q: ${question}\n${results}`;
    return webToolsOf(config, prompt).find(({ name }) => name === "websearch")!;
  };
  const call = async (tool: Tool, input: object) => {
    const parsed = parseCall(tool, JSON.stringify(input));
    return parsed.ok ? executeTool(tool, parsed.input, context()) : parsed.result;
  };
  const two = [
    { title: "One", url: "https://one.example/", content: "First words.", published_date: "2026-11-01" },
    { title: "Two", url: "https://two.example/", content: "Other words." },
  ];

  test("answers from what was found by a step, with numbered sources; marked as from outside", async () => {
    const server = reset(servers.tavily);
    server.found = two;
    const tool = toolOf({ TAVILY_API_KEY: keys.tavily, TAVILY_SEARCH_DEPTH: "advanced", WEBSEARCH_MAX_RESULTS: "2" });
    answers.push("It is so [1], and not so [2, 9]. Nobody says this [7].");
    asked.length = 0;
    const result = await call(tool, { query: "is it so?" });
    assert.equal(
      result.content,
      "It is so [1], and not so [2]. Nobody says this.\n\nSources:\n[1] One: https://one.example/\n[2] Two: https://two.example/\n\n" +
        "Put the number of the page behind each statement that rests on it: [1].",
    );
    assert.equal(result.untrusted, true);
    assert.deepEqual(result.sources, [
      { kind: "web", title: "One", url: "https://one.example/", snippet: "First words.", published: "2026-11-01" },
      { kind: "web", title: "Two", url: "https://two.example/", snippet: "Other words." },
    ]);
    const data = result.data as { cited: number[]; provider: string; results: unknown[] };
    assert.deepEqual([data.provider, data.cited, data.results.length], ["tavily", [1, 2], 2]);
    assert.match(
      String(asked[0]!.messages[0]!.content),
      /^Q: is it so\?\n\[1\] One \(2026-11-01\)\nhttps:\/\/one\.example\/\nFirst words\./,
    );
    const body = server.requests[0]!.body as Record<string, unknown>;
    assert.deepEqual([body["search_depth"], body["max_results"]], ["advanced", 2]);
  });

  test("without a model the pages themselves are the result; the same search is asked once", async () => {
    const server = reset(servers.tavily);
    server.found = two;
    const tool = toolOf({ TAVILY_API_KEY: keys.tavily });
    answers.length = 0;
    const result = await call(tool, { query: "again" });
    assert.match(result.content, /^No answer was written .*the model is down.*\n\n\[1\] One/);
    assert.equal(result.isError, undefined);
    answers.push("Yes [1].");
    assert.match((await call(tool, { query: "AGAIN" })).content, /^Yes \[1\]\./);
    assert.equal(server.requests.length, 1);
    const plain = toolOf({ TAVILY_API_KEY: keys.tavily, COLLOQUY_WEBSEARCH__ANSWER: "no" });
    assert.match((await call(plain, { query: "again" })).content, /^\[1\] One \(2026-11-01\)\nhttps/);
  });

  test("nothing found is no error, and needs no model", async () => {
    reset(servers.tavily);
    const result = await call(toolOf({ TAVILY_API_KEY: keys.tavily }), { query: "qwertz" });
    assert.equal(result.isError, undefined);
    assert.match(result.content, /Nothing was found/);
  });

  test("the next provider is asked where one fails, in the order that is set", async () => {
    reset(servers.tavily).faults.push({ status: 432 });
    reset(servers.brave).found = [{ title: "From Brave", url: "https://c.example/", description: "words" }];
    const environment = {
      TAVILY_API_KEY: keys.tavily,
      BRAVE_API_KEY: keys.brave,
      COLLOQUY_WEBSEARCH__BRAVE__BASE_URL: servers.brave.url,
      COLLOQUY_WEBSEARCH__BRAVE__REQUESTS_PER_SECOND: "1000",
    };
    answers.push("Words [1].");
    const { data } = await call(toolOf(environment), { query: "other" });
    const { provider, failures } = data as { provider: string; failures: string[] };
    assert.equal(provider, "brave");
    assert.match(failures.join(), /plan are used up/);

    answers.push("Words [1].");
    const first = await call(toolOf({ ...environment, COLLOQUY_WEBSEARCH__PROVIDERS: "brave,tavily" }), {
      query: "other",
    });
    assert.equal((first.data as { provider: string }).provider, "brave");
    assert.equal(servers.tavily.requests.length, 1);

    servers.tavily.faults.push({ status: 401 });
    servers.brave.faults.push({ status: 401 });
    const both = await call(toolOf(environment), { query: "third" });
    assert.equal(both.isError, true);
    assert.match(both.content, /TAVILY_API_KEY.*BRAVE_API_KEY/);
  });

  test("without a provider it says what to set", () => {
    assert.match(toolOf({}).unavailable ?? "", /TAVILY_API_KEY, SEARXNG_URL or BRAVE_API_KEY/);
    assert.equal(toolOf({ SEARXNG_URL: "http://127.0.0.1:8888" }).unavailable, undefined);
  });

  test("odd arguments are told before anybody is asked", async () => {
    reset(servers.tavily);
    const tool = toolOf({ TAVILY_API_KEY: keys.tavily });
    for (const input of [
      {},
      { query: " " },
      { query: "x".repeat(401) },
      { query: "x", max_results: 100 },
      { query: "x", sites: ["a b"] },
    ])
      assert.equal((await call(tool, input)).isError, true);
    assert.equal(servers.tavily.requests.length, 0);
  });
});

test("citations of pages that are not there are taken out; links and other brackets stay", () => {
  assert.deepEqual(checkCitations("a [1] b [3]. c [0,2] d [x] [2](https://e.example) [12]", 2), {
    answer: "a [1] b. c [2] d [x] [2](https://e.example)",
    cited: [1, 2],
  });
});

test("a lane: not too many at once, not too soon, and not too many who wait", async () => {
  const pace = createRateLimiter({ gapMs: 20, atOnce: 1, maxWaiting: 2 });
  const begun: number[] = [];
  let active = 0;
  const work = async () => {
    assert.equal(++active, 1);
    begun.push(performance.now());
    await sleep(1);
    active--;
  };
  const leaving = new AbortController();
  const turn = { signal: never };
  const first = pace("a", turn, work);
  const second = pace("a", { signal: leaving.signal }, work);
  const third = pace("a", turn, work);
  await assert.rejects(pace("a", turn, work), { code: "busy" });
  const other = pace("b", turn, async () => "at once");
  leaving.abort(new Error("gone"));
  await assert.rejects(second, /gone/);
  await Promise.all([first, third]);
  assert.equal(await other, "at once");
  assert.equal(begun.length, 2);
  // A timer may come up to a millisecond early.
  assert.ok(begun[1]! - begun[0]! >= 18);
});
