/** An extension among the others of its VM, and whom it waits for. */
export interface Waiting {
  name: string;
  dependsOn: readonly string[];
}

/**
 * The circle that would come to be if `name` waited for `choice`: the names along it, the same first and last; null
 * where there would be none.
 */
export function circleThrough(all: readonly Waiting[], name: string, choice: string): string[] | null {
  const edges = new Map(all.map((one) => [one.name, one.dependsOn]));
  const seen = new Set<string>();
  // Breadth first, so that the shortest circle is told.
  const trails = [[choice]];
  for (let trail = trails.shift(); trail !== undefined; trail = trails.shift()) {
    const last = trail.at(-1) ?? '';
    if (last === name) return [name, ...trail];
    if (seen.has(last)) continue;
    seen.add(last);
    for (const next of edges.get(last) ?? []) trails.push([...trail, next]);
  }
  return null;
}

/** Those who wait and those waited for, as `from` runs before `to`; `inCircle` where neither can ever run. */
export function edgesOf(all: readonly Waiting[]): { from: string; to: string; inCircle: boolean }[] {
  const known = new Set(all.map(({ name }) => name));
  return all.flatMap(({ name, dependsOn }) =>
    dependsOn
      .filter((other) => known.has(other))
      .map((other) => ({ from: other, to: name, inCircle: circleThrough(all, name, other) !== null })),
  );
}

/** Names in an order in which they can run; who is in a circle stands where it is met. */
export function runOrder(all: readonly Waiting[]): string[] {
  const edges = new Map(all.map((one) => [one.name, one.dependsOn]));
  const ordered = new Set<string>();
  const walking = new Set<string>();
  const walk = (name: string) => {
    if (ordered.has(name) || walking.has(name) || !edges.has(name)) return;
    walking.add(name);
    for (const other of edges.get(name) ?? []) walk(other);
    ordered.add(name);
  };
  for (const name of [...edges.keys()].sort()) walk(name);
  return [...ordered];
}
