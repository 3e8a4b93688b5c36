/** The words of the page that is shown while the server can't be reached. */
export const en = {
  title: "The server can't be reached",
  text: "It may be starting anew, or this device is not connected. It is tried again every few seconds; nothing that was sent is lost.",
  again: "Try again now",
};
