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

/** Parses the `rollout` parameter of the URL, by which the map is colored. Returns undefined if it is not an id. */
export function readRollout(rollout: string | null | undefined): string | undefined {
  return rollout && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(rollout) ? rollout.toLowerCase() : undefined;
}

/** Returns the URL of the overview with this grouping of the map and the rollout by which it is colored. */
export function overviewAddress(by: MapGrouping | undefined, rollout?: string): string {
  const parts = [
    ...(by === undefined ? [] : [`by=${encodeURIComponent(by).replace('%3A', ':')}`]),
    ...(rollout === undefined ? [] : [`rollout=${rollout}`]),
  ];
  return parts.length === 0 ? '/' : `/?${parts.join('&')}`;
}
