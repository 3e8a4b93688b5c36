import { z } from "zod";
import type { ModelConfig } from "../../models/config.ts";

/**
 * Where an Ollama is, in all the forms that its own programs take in OLLAMA_HOST: a host, an address, either with a port, a port
 * alone, or a URL. An address that Ollama listens on is not one to ask at: 0.0.0.0 means this machine.
 */
export const ollamaAddressSchema = z.string().transform((text, context) => {
  const url = urlOf(text.trim());
  if (url !== undefined) return url;
  context.addIssue({
    code: "custom",
    message: "must be where Ollama is: a host, host:port, or http://host:port, without a user name",
  });
  return z.NEVER;
});

const usualPort = "11434";

function urlOf(text: string): string | undefined {
  const isUrl = /^https?:\/\//i.test(text);
  if (text === "" || (!isUrl && text.includes("://"))) return undefined;
  const isBareIpv6 = !isUrl && /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i.test(text);
  const place = isBareIpv6 ? `[${text}]` : text.startsWith(":") ? `127.0.0.1${text}` : text;
  const address = isUrl ? text : `http://${place}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined;
  // A URL without a port has its protocol's.
  if (!isUrl && url.port === "" && !/:80(?:$|\/)/.test(place)) url.port = usualPort;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  let { href } = url;
  while (href.endsWith("/")) href = href.slice(0, -1);
  return href.replace(/\/v1$/, "");
}

/** The models of Ollama's that name no address are there. */
export function withOllamaAddress(models: readonly ModelConfig[], address: string | undefined): ModelConfig[] {
  return models.map((model) =>
    model.provider === "ollama" && model.baseUrl === undefined && address !== undefined
      ? { ...model, baseUrl: address }
      : model,
  );
}
