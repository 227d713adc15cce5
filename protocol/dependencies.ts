/** A named item that may depend on other items, such as an extension of a goal state. */
export interface Dependent {
  readonly name: string;
  readonly dependsOn: readonly string[];
}

/**
 * Sorts items so that dependencies come before their dependents, otherwise in the given order. Ignores dependencies
 * that are not among the items, and dependencies that close a cycle. (The portal rejects cycles.)
 */
export function runOrder<T extends Dependent>(items: readonly T[]): T[] {
  const ordered: T[] = [];
  walk(items, (item) => ordered.push(item));
  return ordered;
}

/** Returns the length of the longest chain of dependencies below each item; 0 for an item without dependencies. */
export function dependencyLevels(items: readonly Dependent[]): Map<string, number> {
  const known = new Set(items.map(({ name }) => name));
  const levels = new Map<string, number>();
  walk(items, ({ name, dependsOn }) => {
    const below = dependsOn.filter((other) => known.has(other)).map((other) => (levels.get(other) ?? 0) + 1);
    levels.set(
      name,
      below.reduce((longest, level) => Math.max(longest, level), 0),
    );
  });
  return levels;
}

/**
 * Returns the first dependency cycle as a list of names, with the first one repeated at the end; null if there is no
 * cycle.
 */
export function findCycle(items: readonly Dependent[]): string[] | null {
  let first: string[] | null = null;
  walk(items, undefined, (cycle) => {
    first ??= cycle;
  });
  return first;
}

/**
 * Returns the shortest cycle that would exist if `name` depended on `choice`, as a list of names with the first one
 * repeated at the end; null if there would be no cycle.
 */
export function cycleThrough(items: readonly Dependent[], name: string, choice: string): string[] | null {
  const edges = new Map(items.map((item) => [item.name, item.dependsOn]));
  const seen = new Set<string>();
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

/**
 * Visits every item once, depth first. Calls `onDone` for an item after its dependencies, and `onCycle` for each cycle
 * found. Uses an explicit stack, because recursion could overflow on a long chain of dependencies.
 */
function walk<T extends Dependent>(
  items: readonly T[],
  onDone: (item: T) => void = () => {},
  onCycle: (names: string[]) => void = () => {},
): void {
  const byName = new Map(items.map((item) => [item.name, item]));
  const seen = new Set<string>();
  for (const start of items) {
    if (seen.has(start.name)) continue;
    seen.add(start.name);
    const trail = [{ item: start, next: 0 }];
    const open = new Set([start.name]);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const name = top.item.dependsOn[top.next];
      top.next += 1;
      const item = name === undefined ? undefined : byName.get(name);
      if (name === undefined) {
        trail.pop();
        open.delete(top.item.name);
        onDone(top.item);
      } else if (item !== undefined && !seen.has(name)) {
        seen.add(name);
        open.add(name);
        trail.push({ item, next: 0 });
      } else if (open.has(name)) {
        const names = [...open];
        onCycle([...names.slice(names.indexOf(name)), name]);
      }
    }
  }
}
