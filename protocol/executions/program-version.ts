const numbers = /^\d{1,9}(?:\.\d{1,9}){0,7}/;

/**
 * Returns the numbers at the beginning of a program's version, such as `[5, 2, 15]` for `5.2.15(1)-release`; null if
 * the version does not begin with a number.
 */
export function programVersion(text: string): number[] | null {
  return numbers.exec(text)?.[0].split('.').map(Number) ?? null;
}

/** Whether the version `found` is equal to or newer than `wanted`. Missing numbers count as 0. */
export function isAtLeast(found: string, wanted: string): boolean {
  const have = programVersion(found) ?? [];
  const need = programVersion(wanted) ?? [];
  for (let index = 0; index < need.length; index += 1) {
    const difference = (have[index] ?? 0) - (need[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
