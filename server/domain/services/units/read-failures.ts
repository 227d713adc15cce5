import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { retrySeconds } from '#protocol/next-hook.ts';
import { count, time } from '#server/domain/answers.ts';
import type { UnitRow } from '../runs/find-unit.ts';

/** A hook that fails on a unit. */
export const failing = z.object({
  hook: z.string(),
  run: z.uuid().describe('The run that failed last, which a resolution names.'),
  failures: count.describe('Number of failed attempts for the same cause.'),
  outcome: z.enum(['failed', 'timed-out', 'refused']),
  exitCode: z.number().int().nullable(),
  since: time,
  relation: z
    .object({ id: count, number: count, name: z.string() })
    .nullable()
    .describe('The relation, with its name in the formula; null for a hook of the unit.'),
  remoteUnit: z.string().nullable(),
  failedAt: time.nullable().describe('When the last attempt failed; null if its run is no longer kept.'),
  nextAttemptBefore: time
    .nullable()
    .describe('The latest time of the next attempt. The agent chooses a random time before it.'),
  resolution: z.enum(['retry', 'skip']).nullable().describe('What an operator decided; null before a decision.'),
});
export type UnitFailure = z.infer<typeof failing>;

interface Row extends Record<string, unknown> {
  unit: string;
  slot: string;
  relation: UnitFailure['relation'];
  failedAt: string | null;
}

/** Reads when failing hooks last failed, and the relations they belong to. */
export async function readFailures(
  db: Database | Transaction,
  rows: readonly UnitRow[],
): Promise<(row: UnitRow) => UnitFailure[]> {
  const ids = rows.filter(({ failing: slots }) => Object.keys(slots).length > 0).map(({ id }) => id);
  const facts = new Map(
    (ids.length === 0 ? [] : await readFacts(db, ids)).map((one) => [`${one.unit} ${one.slot}`, one]),
  );
  return ({ id, failing: slots, resolutions }) =>
    Object.entries(slots).map(([slot, { remoteUnit, ...failure }]) => {
      const { relation = null, failedAt = null } = facts.get(`${id} ${slot}`) ?? {};
      const at = failedAt === null ? null : new Date(failedAt);
      return {
        ...failure,
        ...{ relation, remoteUnit: remoteUnit ?? null, failedAt: at?.toISOString() ?? null },
        nextAttemptBefore: at && nextAttempt(at, failure.failures).toISOString(),
        resolution: resolutions.find(({ run }) => run === failure.run)?.how ?? null,
      };
    });
}

/** Only the agent knows the random part of the delay. */
const nextAttempt = (failedAt: Date, failures: number): Date =>
  new Date(failedAt.getTime() + retrySeconds(failures, () => 1) * 1000);

async function readFacts(db: Database | Transaction, unitIds: readonly string[]): Promise<Row[]> {
  const { rows } = await db.execute<Row>(sql`
    select u.id as unit, f.key as slot, to_json(h.ended_at) as "failedAt",
        case when r.id is not null then json_build_object('id', r.id, 'number', r.number, 'name', e.name) end as relation
      from units u cross join lateral jsonb_each(u.failing) f
      left join hook_runs h on h.vm_id = u.vm_id and h.id = (f.value ->> 'run')::uuid
      left join relations r on f.key <> 'unit' and r.id::text = f.key
      left join relation_units p on p.relation_id = r.id and p.unit_id = u.id
      left join relation_endpoints e on e.relation_id = r.id and e.side = p.side
     where u.id = any(${sql.param(unitIds)}::uuid[])`);
  return rows;
}
