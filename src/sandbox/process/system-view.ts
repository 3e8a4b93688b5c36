/** Where commands look for the programs of this machine. */
export const sandboxPath = "/usr/local/bin:/usr/bin:/bin";

/** What programs look for in /etc, as far as it is no secret. */
export const visibleSettings = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/ca-trust/extracted",
  "/etc/ca-certificates",
  "/etc/fonts",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/matplotlibrc",
  "/etc/chromium",
  "/etc/chromium.d",
];
