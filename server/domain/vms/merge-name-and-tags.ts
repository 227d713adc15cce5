/** The name and tags of a VM. */
export interface NameAndTags {
  name: string;
  tags: Readonly<Record<string, string>>;
}

/**
 * Applies one person's changes (`seen` to `wanted`) to what is stored now, so that other people's changes are kept.
 * Returns null if both sides changed the name, or the same tag, in different ways.
 */
export function mergeNameAndTags(seen: NameAndTags, wanted: NameAndTags, current: NameAndTags) {
  const name = merged(seen.name, wanted.name, current.name);
  const names = new Set([seen, wanted, current].flatMap(({ tags }) => Object.keys(tags)));
  const tags = [...names].map((tag) => [tag, merged(seen.tags[tag], wanted.tags[tag], current.tags[tag])] as const);
  if (name === conflict || tags.some(([, value]) => value === conflict)) return null;
  const kept = tags.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { name, tags: Object.fromEntries(kept) };
}

const conflict = Symbol('conflict');

function merged<T extends string | undefined>(seen: T, wanted: T, current: T): T | typeof conflict {
  if (wanted === seen || wanted === current) return current;
  return current === seen ? wanted : conflict;
}
