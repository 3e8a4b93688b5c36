/**
 * The address of a path below a base URL that may or may not end with a slash; its query is kept.
 * `version` goes between when the base is a host alone, since people give it both ways.
 */
export function endpoint(baseUrl: string, path: string, options?: { readonly version: string }): URL {
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/(?<!\/)\/+$/, "");
  url.pathname = base === "" && options ? `/${options.version}/${path}` : `${base}/${path}`;
  return url;
}

/** An address as it may be shown: without credentials, query and fragment. */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
