/** Dependencies before their dependants, otherwise as given. A circle, which the portal refuses, keeps its given order. */
export function dependenciesFirst<T extends { name: string; dependsOn: string[] }>(items: readonly T[]): T[] {
  const byName = new Map(items.map((item) => [item.name, item]));
  const seen = new Set<string>();
  const ordered: T[] = [];
  // A chain may be as long as the goal state, so the walk keeps its own stack.
  for (const start of items) {
    const stack: { item: T; next: number }[] = [{ item: start, next: 0 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as { item: T; next: number };
      if (top.next === 0) {
        if (seen.has(top.item.name)) {
          stack.pop();
          continue;
        }
        seen.add(top.item.name);
      }
      const name = top.item.dependsOn[top.next];
      top.next += 1;
      if (name === undefined) {
        ordered.push(top.item);
        stack.pop();
        continue;
      }
      const dependency = byName.get(name);
      if (dependency !== undefined && !seen.has(name)) stack.push({ item: dependency, next: 0 });
    }
  }
  return ordered;
}
