/** The value of a cookie in a request's header; undefined: it has none of this name. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(";") ?? []) {
    const [key, ...value] = part.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}

export type CookieOptions = {
  /** Where it is sent: the path under which browsers see this server. */
  readonly path: string;
  /** Only over TLS. */
  readonly secure: boolean;
  /** 0 takes the cookie away. */
  readonly maxAgeSeconds: number;
};

/** A header for a cookie that no script reads and no other site's form or fetch sends. Its value needs no quotes. */
export function cookieHeader(name: string, value: string, { path, secure, maxAgeSeconds }: CookieOptions): string {
  const security = secure ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${security}`;
}
