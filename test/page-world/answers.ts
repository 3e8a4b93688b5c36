import type { SeenRequest } from "../model-servers/model-server.ts";
import type { ServerAnswer } from "../model-servers/answers.ts";

/** What the model answers to whoever says something with these words, request by request. */
type Story = {
  readonly says: string;
  /** In what the model was told of itself; tells members of a room apart. */
  readonly as?: string;
  readonly answers: readonly (string | ServerAnswer)[];
};

const call = (name: string, given: object): ServerAnswer => ({ calls: [{ name, arguments: given }] });
const hangs = (...text: readonly string[]): ServerAnswer => ({ text, fault: "hang" });
/** Of the plan's run that is seen at work. */
const slowStep = "Write the invitation";

export const said = {
  prices: "Which suppliers raised their prices this year, and what does it cost us a month? Tell Ben by mail.",
  report: "How did the third quarter go, by region? The figures are attached.",
  streaming: "Write a short page about us for the website.",
  next: "And keep it under 200 words, please.",
  failed: "Translate the product page into Portuguese.",
  limit: "Go through all open tasks and close those that are done.",
  unknown: "Order 40 kg of Yirgacheffe from Sidama Traders, as last time.",
  question: "Send the samples to the café in Lyon.",
  plan: "Prepare Friday's tasting: list, prices and an invitation.",
  planAtWork: "Prepare the tasting in Lyon: list, prices and an invitation.",
  delegated: "Which of the two new grinders should we buy? Have the facts looked up first.",
  markdown: "How much coffee for half a litre of filter, and how do I log a brew in Python?",
  stopped: "Read all reviews of the last ten years.",
  tasks: "Put milk, filters and the broken scale on my list.",
  archived: "Where is the spare key of the roaster?",
  german: "Schreibe Chloe, dass die Lieferung aus Huila am Dienstag kommt.",
  room: "The Lyon figures look too good. @data can you see why?",
  roomAtWork: "What would the June blend cost with the new prices? @data",
  scheduled: "Tell me what is due today.",
} as const;

const stories: readonly Story[] = [
  {
    says: said.prices,
    answers: [
      {
        text: "I look into the contracts first.",
        calls: [{ name: "rag", arguments: { query: "price increase this year" } }],
      },
      call("calculate", { expression: "(6.9 - 6.2) * 420 + (7.4 - 7.1) * 310" }),
      {
        text:
          "Two suppliers raised their prices this year:\n\n" +
          "| Supplier | Before | Now | A month |\n|---|---|---|---|\n" +
          "| Sidama Traders | 6.20 €/kg | 6.90 €/kg | + 294 € |\n| Finca La Loma | 7.10 €/kg | 7.40 €/kg | + 93 € |\n\n" +
          "Together that is **387 € more a month** at what we buy now [1]. Finca La Loma holds its price until June [2]. I write to Ben:",
        calls: [
          {
            name: "send_mail",
            arguments: {
              to: "ben@kestrel.example",
              subject: "Two suppliers raised their prices",
              text: "Sidama +0.70 €/kg, La Loma +0.30 €/kg: 387 € more a month.",
            },
          },
        ],
      },
      "Ben knows.",
    ],
  },
  {
    says: said.report,
    answers: [
      {
        reasoning: "Regions are in the second column. I add them up before I say anything about growth.",
        calls: [{ name: "calculate", arguments: { expression: "48200 + 31750 + 22900" } }],
      },
      "The quarter brought **102,850 €**, 8 % more than a year ago.\n\n- **North** leads with 48,200 €; the two new cafés make up a third of it.\n" +
        "- **Lyon** has grown most: 31,750 €, a fifth more.\n- **South** fell by 4 %, all of it in August, when the van was in repair.\n\n" +
        "I would look at the South again in October before changing anything.",
    ],
  },
  {
    says: said.streaming,
    answers: [
      hangs(
        "## Roasted where you can smell it\n\n",
        "Kestrel is five people and one drum roaster in an old tram depot. We roast on Mondays and Thursdays, ",
        "and what you buy was green last week.\n\nWe know each of our ",
      ),
    ],
  },
  { says: said.failed, answers: [{ status: 400, error: "the model kestrel-large has been withdrawn" }] },
  {
    says: said.limit,
    answers: [
      call("list_tasks", { status: "pending" }),
      call("list_tasks", { status: "all" }),
      "All of them are open.",
    ],
  },
  {
    says: said.unknown,
    answers: [
      call("place_order", { supplier: "Sidama Traders", coffee: "Yirgacheffe G1", kilograms: 40 }),
      "It is ordered.",
    ],
  },
  { says: said.question, answers: [call("book_courier", { to: "Lyon" }), "They leave today."] },
  {
    says: said.delegated,
    answers: [
      call("delegate", {
        agent: "scout",
        task: "Find the burr size, noise and price of the Ditta 64 and the Mahl E2 in our notes.",
      }),
      "Buy the **Mahl E2**. It is 300 € dearer, but grinds a kilo in half the time and is quiet enough for the shop.",
    ],
  },
  {
    says: "Find the burr size",
    answers: [
      call("rag", { query: "grinder Ditta 64 Mahl E2 burr noise price" }),
      "Ditta 64: 64 mm, 78 dB, 1,150 €. Mahl E2: 80 mm, 69 dB, 1,450 €.",
    ],
  },
  {
    says: said.markdown,
    answers: [
      "Take **30 g** for half a litre: the usual ratio is 1 to 16.7.\n\n$$ m = \\frac{500\\,\\mathrm{g}}{16.7} \\approx 30\\,\\mathrm{g} $$\n\n" +
        'A brew in a file of lines:\n\n```python\nimport json, time\n\ndef log(brew: dict, path: str = "brews.jsonl") -> None:\n' +
        '    """Adds one brew, with the time."""\n    with open(path, "a") as file:\n        file.write(json.dumps({"at": time.time(), **brew}) + "\\n")\n```\n\n' +
        "1. Grind as coarse as sea salt.\n2. Pour 60 g, wait 30 s.\n3. Pour the rest until 2:15.\n\n> Bitter? Grind coarser. Sour? Finer.",
    ],
  },
  { says: said.stopped, answers: [hangs("I begin with 2016. ")] },
  {
    says: said.tasks,
    answers: [
      {
        calls: ["Buy milk", "Order filters, size 4", "Have the scale repaired"].map((title) => ({
          name: "add_task",
          arguments: { title },
        })),
      },
      "All three are on your list.",
    ],
  },
  { says: said.archived, answers: ["In the drawer below the till, in the tin with the old labels."] },
  {
    says: said.german,
    answers: [
      call("send_mail", {
        to: "chloe@kestrel.example",
        subject: "Lieferung aus Huila",
        text: "Sie kommt am Dienstag zwischen 8 und 10 Uhr.",
      }),
      "Chloe weiß Bescheid.",
    ],
  },
  {
    says: said.room,
    as: "You are @data",
    answers: ["August counts twice: the file of the 2nd was loaded again on the 3rd. @code can you count without it?"],
  },
  {
    says: "can you count without it",
    as: "You are @code",
    answers: [call("bash", { cmd: "grep Lyon sales-q3.csv" }), "Without it: **31,750 €** instead of 38,400 €."],
  },
  {
    says: "Without it:",
    as: "You are @data",
    answers: ["So Lyon grew by a fifth, not by half. I would correct the report before it goes out."],
  },
  {
    says: said.roomAtWork,
    as: "You are @data",
    answers: [hangs("The blend is two parts Huila and one part Yirgacheffe. ")],
  },
  { says: said.scheduled, answers: ["Due today: the filters, and the call with the café in Lyon."] },
];

/** What the model says, whatever it was asked before: only the request counts. */
export function answerOf({ body }: SeenRequest): string | ServerAnswer {
  const messages = body["messages"] as readonly { readonly role: string; readonly content: unknown }[];
  const told = messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  const system = told.filter(({ role }) => role === "system").map(({ text }) => text);
  const last = told.findLastIndex(({ role }) => role === "user");
  const asked = told[last]?.text ?? "";
  const plan = planAnswer(asked, [...system, asked].join("\n"), told.at(-1)?.role === "tool");
  if (plan !== undefined) return plan;
  const done = told.slice(last + 1).filter(({ role }) => role === "assistant").length;
  const story = stories.find(({ says, as = "" }) => asked.includes(says) && system.some((text) => text.includes(as)));
  if (!story) return system.some((text) => text.includes("[pass]")) ? "[pass]" : "Gladly.";
  return story.answers[Math.min(done, story.answers.length - 1)]!;
}

/** Of the agent that makes plans: the plan, a step of it, and what it says at the end. */
function planAnswer(asked: string, all: string, isAfterTool: boolean): string | ServerAnswer | undefined {
  if (all.includes("You make a plan for the user's request"))
    return JSON.stringify({ steps: ["List the four coffees of the tasting", "Look up their prices", slowStep] });
  const step = /Your step now:\n\d+\. (.*)/.exec(all)?.[1];
  if (step !== undefined) {
    if (isAfterTool) return "Huila, Yirgacheffe, Sumatra and the June blend; 250 g cost 11 to 14 €.";
    if (step.startsWith(slowStep)) return all.includes(said.planAtWork) ? hangs("Dear ") : "The invitation is written.";
    return call("rag", { query: step });
  }
  if (!all.includes("The work on the request has ended")) return undefined;
  void asked;
  return "The tasting is prepared: **four coffees**, 11 to 14 € for 250 g, and an invitation for Friday at six. Nothing was sent yet.";
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("\n") : "";
}
