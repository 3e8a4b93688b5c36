// The stock of the shop as an MCP server: a program of its own that any MCP client can use.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const bags = { sidama: 12, huila: 40, antigua: 0 };
const coffee = z.enum(["sidama", "huila", "antigua"]);
const text = (value) => ({ content: [{ type: "text", text: value }] });

function createServer() {
  const server = new McpServer({ name: "stock", version: "1.0.0" });

  server.registerTool(
    "level",
    {
      description: "How many bags of a coffee are in stock",
      inputSchema: z.object({ coffee }),
      annotations: { readOnlyHint: true },
    },
    ({ coffee }) => text(`${bags[coffee]} bags of ${coffee} are in stock.`),
  );

  server.registerTool(
    "reserve",
    {
      description: "Reserve bags of a coffee for a customer",
      inputSchema: z.object({ coffee, bags: z.int().min(1) }),
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    ({ coffee, bags: wanted }) => {
      if (bags[coffee] < wanted) return { ...text(`Only ${bags[coffee]} bags of ${coffee} are left.`), isError: true };
      bags[coffee] -= wanted;
      return text(`${wanted} bags of ${coffee} are reserved.`);
    },
  );
  return server;
}

serveStdio(createServer);
