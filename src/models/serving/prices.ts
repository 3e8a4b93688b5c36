export type Prices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

const million = 1_000_000;

/** What tokens of a model cost, in the unit of the prices; undefined where no price is known. */
export function createPrices(prices: Prices) {
  return (
    model: string,
    usage: { readonly inputTokens: number; readonly outputTokens: number },
  ): number | undefined => {
    const price = prices[model];
    return price && (usage.inputTokens * price.input + usage.outputTokens * price.output) / million;
  };
}
