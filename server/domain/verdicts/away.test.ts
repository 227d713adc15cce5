import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { testServices } from '#server/testing/context.ts';
import { awaySql, graceSeconds, silenceSeconds, wasAway } from './rules.ts';
import { unresponsiveSeconds } from './words.ts';

test('awaySql and wasAway agree around every limit', async () => {
  const { db } = await testServices();
  const seen = new Date('2026-01-01T12:00:00Z');
  const after = (seconds: number) => new Date(seen.getTime() + seconds * 1000);
  const around = (...moments: number[]) => moments.flatMap((moment) => [moment - 1, moment, moment + 1]);
  const promises = [0, 30, 60, ...around(unresponsiveSeconds, silenceSeconds), 3_600];
  const cases = promises.flatMap((promised) =>
    [0, 1, ...around(graceSeconds, promised, promised + graceSeconds, unresponsiveSeconds, silenceSeconds), 10_000].map(
      (passed) => ({ promised, passed }),
    ),
  );
  const rows = cases.map(({ promised, passed }) => ({
    last_seen_at: seen.toISOString(),
    next_expected_at: after(promised).toISOString(),
    now: after(passed).toISOString(),
  }));
  const found = await db.execute<{ away: boolean }>(sql`
    select ${sql.raw(awaySql('p', 'p.now'))} as away
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as p(last_seen_at timestamptz, next_expected_at timestamptz, now timestamptz)`);
  const bySql = cases.map((one, index) => ({ ...one, away: found.rows[index]?.away }));
  const byRule = cases.map(({ promised, passed }) => ({
    promised,
    passed,
    away: wasAway({ lastSeenAt: seen, nextExpectedAt: after(promised) }, after(passed)),
  }));
  expect(bySql).toEqual(byRule);
  expect(byRule.some(({ away }) => away) && byRule.some(({ away }) => !away)).toBe(true);
});
