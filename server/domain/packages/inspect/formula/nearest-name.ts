/** Only the beginnings of long names, and the first of many names, are compared, so that a hostile package costs little. */
const compared = 48;
const maxNames = 200;

/** Returns the name that needs the fewest changed characters to become `given`; the first of several. */
export function nearestName(given: string, names: readonly string[]): string {
  let nearest = '';
  let fewest = Number.POSITIVE_INFINITY;
  for (const name of names.slice(0, maxNames)) {
    const changes = distance(given.slice(0, compared), name.slice(0, compared));
    if (changes >= fewest) continue;
    nearest = name;
    fewest = changes;
  }
  return nearest;
}

/** Returns the edit distance of two texts: the number of inserted, removed and replaced characters. */
function distance(a: string, b: string): number {
  let row = Uint16Array.from({ length: b.length + 1 }, (_, index) => index);
  let next = new Uint16Array(b.length + 1);
  for (let i = 1; i <= a.length; i += 1) {
    next[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    [row, next] = [next, row];
  }
  return row[b.length] ?? 0;
}
