import { t } from "@lingui/core/macro";

/** What the server brings along and describes in English: agents, and kinds of rooms with their members. */
const builtIn: Readonly<Record<string, string>> = {
  "A general assistant that uses every tool its user may use": t`A general assistant that uses every tool its user may use`,
  "Looks at each request and picks how to work on it - plain conversation, tools step by step, or a plan": t`Looks at each request and picks how to work on it - plain conversation, tools step by step, or a plan`,
  "Conversation without tools; answers from what the model knows and what was said": t`Conversation without tools; answers from what the model knows and what was said`,
  "Python, Node.js, Next.js and trading code expert": t`Python, Node.js, Next.js and trading code expert`,
  "Coordinates tools and specialists, deciding each step by a JSON action; ends with one answer": t`Coordinates tools and specialists, deciding each step by a JSON action; ends with one answer`,
  "Makes a plan for work of several steps, carries it out with tools, changes it when a step fails, and reports": t`Makes a plan for work of several steps, carries it out with tools, changes it when a step fails, and reports`,
  "Thinks, uses a tool and looks at its result, in turns, until it can answer; shows each thought": t`Thinks, uses a tool and looks at its result, in turns, until it can answer; shows each thought`,
  "Information analysis and structuring": t`Information analysis and structuring`,
  "Works in a Taiga project - turns minutes into user stories and tasks of a sprint, within the rights of whoever asks": t`Works in a Taiga project - turns minutes into user stories and tasks of a sprint, within the rights of whoever asks`,
  "TodoAssistant; adds, lists, completes, changes and deletes your tasks": t`TodoAssistant; adds, lists, completes, changes and deletes your tasks`,
  Analysis: t`Analysis`,
  "Data analysis by three agents. @data leads, @code runs what is needed, @reviewer watches.": t`Data analysis by three agents. @data leads, @code runs what is needed, @reviewer watches.`,
  "Data analyst who guides the analysis": t`Data analyst who guides the analysis`,
  "A programmer who can run code": t`A programmer who can run code`,
  "Watches for problems": t`Watches for problems`,
};

/** In the reader's language where the text is the server's own; what people wrote stays as it is. */
export function builtInText(text: string): string {
  return Object.hasOwn(builtIn, text) ? builtIn[text]! : text;
}
