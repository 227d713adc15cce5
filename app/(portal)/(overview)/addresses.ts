import { tagText } from '#server/domain/fleet/address.ts';

/** What the list of VMs can be narrowed by. */
export interface VmsFilter {
  health?: string;
  tag?: { name: string; value: string };
  handler?: string;
  messageId?: string;
  sort?: string;
}

/** The list of VMs, narrowed: its filters are in its address. */
export function vmsAddress({ tag, ...filter }: VmsFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.append(name, value);
  if (tag !== undefined) query.append('tag', tagText(tag));
  const text = query.toString();
  return text === '' ? '/vms' : `/vms?${text}`;
}

/** What the overview's address says of the map. */
export type MapGrouping = 'none' | 'handler' | `tag:${string}`;

const longestTag = 256;

/** The grouping in the words behind `?`; undefined where there is none, or none that can be. */
export function readGrouping(by: string | null | undefined): MapGrouping | undefined {
  if (by === 'none' || by === 'handler') return by;
  const tag = by?.startsWith('tag:') ? by.slice('tag:'.length) : '';
  // No tag holds what the database cannot store.
  const canBe = tag !== '' && tag.length <= longestTag && tag.isWellFormed() && !tag.includes('\0');
  return canBe ? `tag:${tag}` : undefined;
}

/** The overview with its map grouped so. */
export function overviewAddress(by: MapGrouping): string {
  return `/?by=${encodeURIComponent(by).replace('%3A', ':')}`;
}
