/** The words of the page that is shown while the server can't be reached. */
export const en = {
  title: "Can't reach the server",
  text: "The server may be restarting, or this device is offline. Retrying every few seconds; nothing you sent is lost.",
  again: "Retry now",
};
