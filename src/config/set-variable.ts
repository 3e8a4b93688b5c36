/** What a flag says counts as if the environment did, for this process and those that it starts. */
export function setVariable(name: string, value: string | undefined): void {
  if (value !== undefined) process.env[name] = value;
}
