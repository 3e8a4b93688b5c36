/** The beginning of a text that is too long for a prompt, and how much was left out. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[cut here: ${text.length - most} more characters]`;
}
