import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';

/** Length of each range in days, and hours between its points. */
const ranges = { '7d': { days: 7, step: 2 }, '60d': { days: 60, step: 12 }, '1y': { days: 365, step: 72 } } as const;

export const adoptionInput = z.object({ handler: z.string().max(192), range: z.enum(['7d', '60d', '1y']) });
export type AdoptionInput = z.input<typeof adoptionInput>;

export interface Adoption {
  /** Versions with counts within the range; if there are more than 50, the 50 versions with the most VMs. */
  versions: string[];
  /** Oldest first. `vms` follows the order of `versions`. Points without a count are omitted. */
  points: { at: Date; vms: number[] }[];
}

/** Returns the number of VMs per version over time, from the worker's hourly counts. */
export async function getAdoption(ctx: Context, input: AdoptionInput): Promise<Adoption> {
  allow(ctx.actor, 'viewer');
  const { handler, range } = parse(adoptionInput, input);
  const { days, step } = ranges[range];
  const from = new Date(ctx.now.getTime() - days * 86_400_000);
  const result = await ctx.db.execute<{ hour: Date; version: string; vms: number }>(sql`
    with counted as (
      select date_bin(${`${step} hours`}::interval, hour, '2020-01-01Z') as bin, max(hour) as hour
      from version_counts where handler = ${handler} and hour >= ${from.toISOString()} group by bin
    ), kept as (
      select version from version_counts where handler = ${handler} and hour in (select hour from counted)
      group by version order by max(vms) desc, version limit 50
    )
    select c.hour, c.version, c.vms from version_counts c
    join counted b on b.hour = c.hour join kept k on k.version = c.version
    where c.handler = ${handler} and c.hour >= ${from.toISOString()} order by c.hour`);
  const versions = [...new Set(result.rows.map(({ version }) => version))];
  const place = new Map(versions.map((version, index) => [version, index]));
  const points = new Map<number, number[]>();
  for (const { hour, version, vms } of result.rows) {
    const at = new Date(hour).getTime();
    const counts = points.get(at) ?? versions.map(() => 0);
    counts[place.get(version) ?? 0] = Number(vms);
    points.set(at, counts);
  }
  return { versions, points: [...points].map(([at, vms]) => ({ at: new Date(at), vms })) };
}
