/** Returns indented JSON with sorted keys, so that equal values have equal texts. */
export function sortedJson(value: unknown): string {
  const ordered = (_: string, each: unknown): unknown =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return JSON.stringify(value, ordered, 2);
}
