/** What providers say when a prompt is too long for them, in their own words. */
const tooLong =
  /context[ _-]?(length|window|size|limit)|maximum (context|prompt|model) length|prompt is too long|too many (input )?tokens|exceeds? the (available )?context|input (is )?too long|input token count|maximum number of tokens allowed|reduce the length of (the|your) (messages|prompt|input)|exceed the configured limit of \d+ tokens|n_ctx|tokens`? must be <=|too large for model with \d+/i;

export function isPromptTooLong(said: string): boolean {
  return tooLong.test(said);
}

/** The size of the window in it, by the words around; the number is the one group. */
const sizes: readonly RegExp[] = [
  // OpenAI, Azure, vLLM, SGLang, DeepSeek, OpenRouter, xAI; Mistral and llama-cpp-python say it the other way round.
  /maximum (?:context|prompt|model) length (?:is|of|\()\s*(\d[\d,]*)/i,
  /(\d[\d,]{0,20}) (?:tokens )?maximum context length/i,
  /exceed(?:s|ed)? (?:the )?(?:maximum )?context (?:window|length|size) (?:of |\(|is )(\d[\d,]*)/i,
  // OpenAI's larger models.
  /configured limit of (\d[\d,]*) tokens/i,
  // Anthropic: 210123 tokens > 200000 maximum; 188240 + 21333 > 200000.
  /> (\d[\d,]*)(?: maximum|,| tokens|$)/i,
  // llama.cpp and Ollama, in words and as a field.
  /available context size \((\d[\d,]*)/i,
  /"?n_ctx"?\s*[:=]\s*(\d+)/i,
  // LM Studio, Gemini, Cerebras, Cohere, text-generation-inference.
  /context length of only (\d[\d,]*)/i,
  /maximum number of tokens allowed \((\d[\d,]*)/i,
  /while limit is (\d[\d,]*)/i,
  /prompt cannot exceed (\d[\d,]*)/i,
  /tokens?`?\)? must be <= (\d[\d,]*)/i,
  /context (?:length|window|size|limit)(?: of| is|:)? (\d[\d,]*)/i,
];

/** How many tokens a model holds, as its provider says in an error; undefined: it does not say. */
export function contextWindowIn(said: string): number | undefined {
  for (const pattern of sizes) {
    const tokens = Number(pattern.exec(said)?.[1]?.replaceAll(",", ""));
    if (tokens >= leastWindow) return tokens;
  }
  return undefined;
}

/** A model with less could not be asked anything; the number is of something else. */
const leastWindow = 256;
