import type { ToolKit } from "colloquy/tools";

const euros = { sidama: 14.5, huila: 12.9, antigua: 13.2 };

export default ({ defineTool, z }: ToolKit) =>
  defineTool({
    name: "price",
    description: "The price of bags of coffee, in euros. Ten bags or more cost a tenth less.",
    input: z.object({
      coffee: z.enum(["sidama", "huila", "antigua"]),
      bags: z.int().min(1).max(500),
    }),
    effect: "read",
    execute({ coffee, bags }) {
      const discount = bags >= 10 ? 0.1 : 0;
      return { coffee, bags, euros: Number((euros[coffee] * bags * (1 - discount)).toFixed(2)) };
    },
  });
