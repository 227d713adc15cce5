import { eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { type hookRuns, relations, unitPorts } from '#db/schema/index.ts';
import { count } from '#server/domain/answers.ts';
import type { NodeDelta } from '#server/domain/service-rules/stored.ts';

const ofRelation = { relation: count.describe('The number of the relation in its model.'), name: z.string() };

/** What a run read and stored. */
export const runEffects = z.object({
  read: z.array(
    z.object({
      ...{ relation: ofRelation.relation.nullable(), name: z.string().nullable() },
      unit: z.string().nullable().describe('The unit whose settings were read; null for the settings of the service.'),
      version: count,
    }),
  ),
  stored: z.array(
    z.object({
      ...ofRelation,
      version: count.describe('The version of the unit’s settings after the run.'),
      keys: z.array(z.object({ key: z.string(), change: z.enum(['added', 'changed', 'removed']) })),
    }),
  ),
  dropped: z
    .array(z.object(ofRelation))
    .describe('The relations whose changes were not stored, because the relation or the unit was being removed.'),
  openPorts: z.array(z.string()).describe('Ports that the run opened and that are still open.'),
});
export type RunEffects = z.infer<typeof runEffects>;

type RunRow = typeof hookRuns.$inferSelect;
type Db = Database | Transaction;

/** Reads which settings a run read and stored, without values, and which ports it opened. */
export async function effectsOf(db: Db, { id, unitId, views, result }: RunRow): Promise<RunEffects> {
  const read = views ?? [];
  const { versions = {}, dropped = [] } = result ?? {};
  const ids = [
    ...read.flatMap((one) => ('relation' in one ? [one.relation] : [])),
    ...Object.keys(versions).map(Number),
  ];
  const named = await namesOf(db, unitId, [...ids, ...dropped]);
  const ports = await db.select().from(unitPorts).where(eq(unitPorts.openedRun, id));
  return {
    read: read.map((one) =>
      'settings' in one
        ? { relation: null, name: null, unit: null, version: one.settings }
        : { ...named(one.relation), unit: one.unit, version: one.version },
    ),
    stored: await storedBy(db, unitId, versions, named),
    dropped: dropped.map(named),
    openPorts: ports.map(({ port, protocol }) => `${port}/${protocol}`).sort(),
  };
}

type Named = (id: number) => { relation: number; name: string };

/** Returns the numbers of relations, and their names in the unit’s formula. */
async function namesOf(db: Db, unitId: string, ids: readonly number[]): Promise<Named> {
  if (ids.length === 0) return () => ({ relation: 0, name: '' });
  const { rows } = await db.execute<{ id: string; number: number; name: string | null }>(sql`
    select r.id, r.number, e.name from ${relations} r
      left join relation_units p on p.relation_id = r.id and p.unit_id = ${unitId}
      left join relation_endpoints e on e.relation_id = r.id and e.side = p.side
     where ${inArray(sql`r.id`, [...ids])}`);
  const byId = new Map(rows.map((row) => [Number(row.id), row]));
  return (id) => ({ relation: byId.get(id)?.number ?? 0, name: byId.get(id)?.name ?? '' });
}

/** The history has the keys of each version, as long as it is kept. */
async function storedBy(
  db: Db,
  unitId: string,
  versions: Readonly<Record<string, number>>,
  named: Named,
): Promise<RunEffects['stored']> {
  const written = Object.entries(versions);
  if (written.length === 0) return [];
  const { rows } = await db.execute<{ relation: string; delta: NodeDelta }>(sql`
    select l.relation_id as relation, l.delta
      from unnest(${sql.param(written.map(([id]) => Number(id)))}::bigint[],
        ${sql.param(written.map(([, version]) => version))}::int[]) as w (relation_id, version)
      join relation_log l on l.relation_id = w.relation_id and l.unit_id = ${unitId} and l.version = w.version
       and l.kind = 'changed'`);
  const deltas = new Map(rows.map(({ relation, delta }) => [relation, delta]));
  return written.map(([id, version]) => {
    const keys = Object.entries(deltas.get(id) ?? {}).map(([key, [before, after]]) => ({
      ...{
        key,
        change: before === null ? ('added' as const) : after === null ? ('removed' as const) : ('changed' as const),
      },
    }));
    return { ...named(Number(id)), version, keys: keys.sort((a, b) => (a.key < b.key ? -1 : 1)) };
  });
}
