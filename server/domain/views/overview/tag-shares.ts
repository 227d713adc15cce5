import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { vmHealth } from '#db/schema/index.ts';
import { keepReading, type MapReader } from './readings.ts';

/** Distribution of the fleet's tags: for each name and value, the share of all VMs, 0 to 1. */
export type TagShares = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Approximate number of VMs to sample from a larger fleet. */
const sampleSize = 20_000;
/**
 * Returns the shares of tags, from a sample if the fleet is large. The shares change slowly, so the result may be some
 * seconds old.
 */
export async function readTagShares(reader: MapReader): Promise<TagShares> {
  return keepReading(reader, 'tag-shares', () => read(reader.db));
}

async function read(db: Database): Promise<TagShares> {
  const [size] = (
    await db.execute<{ rows: number }>(
      sql`select reltuples::float8 as rows from pg_class where oid = 'vm_health'::regclass`,
    )
  ).rows;
  const percent = Math.min(100, (sampleSize / Math.max(1, size?.rows ?? 0)) * 100);
  const { rows } = await db.execute<{ name: string | null; value: string | null; vms: number }>(sql`
    with sample as materialized (select tags from ${vmHealth} tablesample bernoulli (${percent}))
    select null as name, null as value, count(*)::int as vms from sample
    union all
    select t.key, t.value, count(*)::int from sample, jsonb_each_text(tags) t group by 1, 2`);
  const shares = new Map<string, Map<string, number>>();
  const all = Math.max(1, rows.find(({ name }) => name === null)?.vms ?? 0);
  for (const { name, value, vms } of rows) {
    if (name === null || value === null) continue;
    shares.set(name, (shares.get(name) ?? new Map<string, number>()).set(value, vms / all));
  }
  return shares;
}

/** Returns the tag names that divide the fleet into a few groups, best first. */
export function groupingTags(shares: TagShares): string[] {
  return [...shares]
    .map(([name, values]) => ({ name, count: values.size, coverage: [...values.values()].reduce((a, b) => a + b, 0) }))
    .filter(({ count, coverage }) => count >= 2 && count <= 24 && coverage >= 0.5)
    .sort(
      (a, b) =>
        Math.round(b.coverage * 20) - Math.round(a.coverage * 20) || b.count - a.count || (a.name < b.name ? -1 : 1),
    )
    .slice(0, 8)
    .map(({ name }) => name);
}

export interface CommonTag {
  name: string;
  value: string;
  /** Share of the compared VMs that have the tag, 0 to 1; `fleetShare` is the same for the whole fleet. */
  share: number;
  fleetShare: number;
}

/** Returns the tag that is much more common among these VMs than in the fleet; null if none stands out. */
export function commonTag(tagsOf: readonly Readonly<Record<string, string>>[], fleet: TagShares): CommonTag | null {
  if (tagsOf.length < 2) return null;
  const counts = new Map<string, { name: string; value: string; vms: number }>();
  for (const tags of tagsOf) {
    for (const [name, value] of Object.entries(tags)) {
      const key = JSON.stringify([name, value]);
      const entry = counts.get(key) ?? { name, value, vms: 0 };
      entry.vms += 1;
      counts.set(key, entry);
    }
  }
  let best: CommonTag | null = null;
  for (const { name, value, vms } of counts.values()) {
    const share = vms / tagsOf.length;
    const fleetShare = Math.min(1, fleet.get(name)?.get(value) ?? 0);
    if (share < 0.8 || share - fleetShare < 0.25) continue;
    if (best === null || share - fleetShare > best.share - best.fleetShare) best = { name, value, share, fleetShare };
  }
  return best;
}
