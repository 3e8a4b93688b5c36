/** The roastery's own tools, as a file of its tools folder. */
export const toolsFile = `export default ({ defineTool, z }) => [
  defineTool({
    name: "send_mail",
    description: "Sends a mail.",
    input: z.object({ to: z.string(), subject: z.string(), text: z.string() }),
    effect: "write",
    sendsOut: true,
    execute: ({ to }) => "sent to " + to,
  }),
  defineTool({
    name: "place_order",
    description: "Orders green coffee.",
    input: z.object({ supplier: z.string(), coffee: z.string(), kilograms: z.number() }),
    effect: "write",
    timeoutMs: 300,
    execute: () => new Promise(() => {}),
  }),
  defineTool({
    name: "book_courier",
    description: "Has a parcel fetched.",
    input: z.object({ to: z.string() }),
    effect: "write",
    execute: (_, { answers }) =>
      answers.length > 0
        ? "booked"
        : { content: "", ask: { text: "Which courier shall fetch the parcel?", choices: ["Chronopost", "By bicycle"] } },
  }),
];
`;

const contract = (supplier: string, coffee: string, old: string, now: string) => `# Supply of green coffee: ${supplier}

## 1. What is supplied

${supplier} supplies Kestrel Coffee with ${coffee}, washed, in bags of 60 kg, of the harvest of the running year. Samples of
300 g come three weeks before each delivery; Kestrel may refuse a lot within five days.

## 2. Prices

The price was ${old} a kilogram until the end of last year. **From January on it is ${now} a kilogram**, free at the port of
Antwerp. Each side may ask for a new price once a year, in writing, two months before.

## 3. Delivery

Four deliveries a year, in March, June, September and December. If a delivery is more than two weeks late, Kestrel may buy
elsewhere, and ${supplier} pays the difference.
`;

/** What is in the collections: name, then text. */
export const documents = {
  "Supplier contracts": {
    "sidama-traders.md": contract("Sidama Traders", "Yirgacheffe G1", "6.20 €", "6.90 €"),
    "finca-la-loma.md": contract("Finca La Loma", "Huila Supremo", "7.10 €", "7.40 €"),
    "gayo-cooperative.md": contract("Gayo Cooperative", "Sumatra Mandheling", "5.80 €", "5.80 €"),
    "scan-2019.pdf": "%PDF-1.4 nothing that can be read",
  },
  "Brewing and machines": {
    "grinders.md":
      "# Grinders\n\nDitta 64: burrs of 64 mm, 78 dB, 1,150 €.\n\nMahl E2: burrs of 80 mm, 69 dB, 1,450 €. Grinds a kilo in half the time.\n",
    "filter.md":
      "# Filter\n\nThe ratio is 60 g to a litre. Water of 94 °C. Bloom for 30 s with twice the weight of the coffee.\n",
  },
} as const;

export const sales =
  "month,region,amount\n2026-07,North,15900\n2026-08,North,16100\n2026-09,North,16200\n2026-08,Lyon,10580\n";
