/** The names of the commands that the help tells of. */
export function commandsIn(help: string): readonly string[] {
  return [...new Set([...help.matchAll(/^ {2}\.\/colloquy (\S+)/gm)].map(([, name]) => name!))];
}

/** Returns the help of one command, by its first words; the complete help if the command doesn't exist. */
export function helpFor(help: string, [command, second]: readonly string[]): string {
  if (command === undefined) return help;
  const entries = help.split(/\n(?= {2}\.\/colloquy )|\n\n/).filter((entry) => entry.startsWith("  ./colloquy "));
  const about = (words: string) => entries.filter((entry) => entry.startsWith(`  ./colloquy ${words} `));
  const narrow = second === undefined ? [] : about(`${command} ${second}`);
  const own = narrow.length > 0 ? narrow : about(command);
  return own.length > 0 ? `${own.join("\n")}\n\nRun \`./colloquy --help\` for all commands.` : help;
}
