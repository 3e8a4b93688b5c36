const longestName = 200;

/** The known names nearest to a mistyped one, best first; empty when none is near. */
export function similarNames(name: string, known: Iterable<string>, maximum = 3): string[] {
  // Nobody mistypes a page, and to compare one takes long.
  if (name.length > longestName) return [];
  const wanted = name.toLowerCase();
  // A third of the letters may differ: more than that is another word.
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  const near: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    const contains = wanted.length >= 3 && other.length >= 3 && (other.includes(wanted) || wanted.includes(other));
    const distance = Math.abs(other.length - wanted.length) > allowed ? Infinity : editDistance(wanted, other);
    if (distance <= allowed) near.push({ candidate, distance });
    else if (contains) near.push({ candidate, distance: allowed + 1 });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, maximum).map((entry) => entry.candidate);
}

/** How many letters must be put in, taken out, changed or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const change = from[row - 1] === to[column - 1] ? 0 : 1;
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + change);
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
