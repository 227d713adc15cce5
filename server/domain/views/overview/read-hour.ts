import { sql } from 'drizzle-orm';
import { healthTransitions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { VmHealth } from '#server/domain/verdicts/index.ts';
import { type MapReader, shareReading } from './readings.ts';

/** Number of seconds that one bar covers. */
export const barSeconds = 150;
export const barCount = 24;

/**
 * Returns the start of the first bar, in milliseconds since 1970. Bars are aligned to the clock, so that they do not
 * shift.
 */
export function firstBar(now: Date): number {
  const width = barSeconds * 1000;
  return (Math.floor(now.getTime() / width) + 1 - barCount) * width;
}

/** How often VMs changed from one health to another within one bar. */
export interface Transitions {
  bar: number;
  /** Null if the VM had no health before. */
  from: VmHealth | null;
  /** Null if the VM was deleted. */
  to: VmHealth | null;
  changes: number;
}

export interface Hour {
  /** Start of the first bar, in milliseconds since 1970. */
  begin: number;
  transitions: Transitions[];
}

/** Returns the changes of health within the hour. All parts of the overview that show them share one reading. */
export async function readHour(ctx: Context & MapReader): Promise<Hour> {
  return shareReading(ctx, 'hour', async () => {
    const begin = firstBar(ctx.now);
    const first = new Date(begin);
    const { rows } = await ctx.db.execute<Omit<Transitions, 'bar'> & { at: number }>(sql`
      select extract(epoch from bar)::float8 as at, "from", "to", changes from (
        select date_bin(${`${barSeconds} s`}::interval, at, ${first}) as bar, "from", "to", count(*)::int as changes
        from ${healthTransitions} where extension is null and kind = 'health' and at >= ${first} group by 1, 2, 3) bars`);
    return {
      begin,
      transitions: rows.map(({ at, ...row }) => ({
        ...row,
        bar: Math.min(barCount - 1, (at - begin / 1000) / barSeconds),
      })),
    };
  });
}
