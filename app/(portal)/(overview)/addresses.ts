/** The grouping of the map, as it appears in the overview's URL. */
export type MapGrouping = 'none' | 'handler' | `tag:${string}`;

const longestTag = 256;

/** Parses the `by` parameter of the URL. Returns undefined if it is absent or invalid. */
export function readGrouping(by: string | null | undefined): MapGrouping | undefined {
  if (by === 'none' || by === 'handler') return by;
  const tag = by?.startsWith('tag:') ? by.slice('tag:'.length) : '';
  // PostgreSQL cannot store NUL or lone surrogates, so no tag name contains them.
  const canBe = tag !== '' && tag.length <= longestTag && tag.isWellFormed() && !tag.includes('\0');
  return canBe ? `tag:${tag}` : undefined;
}

/** Returns the URL of the overview with this grouping of the map. */
export function overviewAddress(by: MapGrouping): string {
  return `/?by=${encodeURIComponent(by).replace('%3A', ':')}`;
}
