/** Where commands look for the programs of this machine. */
export const sandboxPath = "/usr/local/bin:/usr/bin:/bin";

/** Files in /etc that programs need and that are not secret. */
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
