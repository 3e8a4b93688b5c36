const longest = 4000;

/** Some messages name what was asked for, which may be as long as a body. */
export function shownMessage(message: string): string {
  return message.length <= longest ? message : `${message.slice(0, longest)}…`.toWellFormed();
}
