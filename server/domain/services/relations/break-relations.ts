import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import { type CausingRun, type Moving, tellMoved } from './move-units.ts';
import { raiseHeads } from './raise-heads.ts';
import type { NodeRef } from './sealed-node.ts';

/**
 * Ends the participation of units in relations, after their hooks `broken` or because they were removed, each with the
 * next value of the relation's clock. Ends relations that are dying and have no participant left, and returns the
 * services of the ended ones. A unit that takes part in a relation that continues stays in it, whatever its agent says:
 * others would never see it depart.
 */
export async function breakRelations(
  tx: Transaction,
  ctx: Moving,
  broken: readonly NodeRef[],
  run: CausingRun | null = null,
): Promise<string[]> {
  if (broken.length === 0) return [];
  const relations = sql`${sql.param(broken.map(({ relationId }) => relationId))}::bigint[]`;
  const units = sql`${sql.param(broken.map(({ unitId }) => unitId))}::uuid[]`;
  const at = sql`${ctx.now.toISOString()}::timestamptz`;
  await lockRelations(
    tx,
    broken.map(({ relationId }) => relationId),
  );
  const { rows } = await tx.execute<{ id: string; vmId: string }>(sql`
    with given as (select * from unnest(${relations}, ${units}) as g (relation_id, unit_id)
    ), forgotten as (
      delete from relation_seen s using given g where s.relation_id = g.relation_id and s.unit_id = g.unit_id
    ), broken as (
      update relation_units p set state = 'broken' from given g
       where p.relation_id = g.relation_id and p.unit_id = g.unit_id
         and (p.state = 'left' or p.state = 'in' and exists (
           select from relations r where r.id = p.relation_id and r.life = 'dying'))
      returning p.relation_id, p.unit_id, p.version
    ), placed as (
      select b.relation_id, b.unit_id, b.version,
        r.clock + row_number() over (partition by b.relation_id order by b.unit_id) as clock
        from broken b join relations r on r.id = b.relation_id
    ), tick as (
      update relations r set clock = f.clock, moved_at = ${at}
        from (select relation_id, max(clock) as clock from placed group by relation_id) f where r.id = f.relation_id
    ), logged as (
      insert into relation_log (relation_id, clock, unit_id, kind, version, delta, run_vm, run_id, at)
      select relation_id, clock, unit_id, 'broken', version, '{}', ${run?.vmId ?? null}::uuid, ${run?.id ?? null}::uuid,
        ${at} from placed
    )
    select distinct b.relation_id as id, u.vm_id as "vmId" from broken b join units u on u.id = b.unit_id order by 2, 1`);
  await tellMoved(tx, [...new Set(rows.map(({ id }) => id))]);
  await raiseHeads(
    tx,
    ctx,
    rows.map(({ vmId }) => vmId),
  );
  return endRelations(
    tx,
    ctx,
    broken.map(({ relationId }) => relationId),
  );
}

/** Ends dying relations without participants. Returns the services of the ended ones. The caller has locked them. */
export async function endRelations(tx: Transaction, { now }: Moving, ids: readonly number[]): Promise<string[]> {
  const { rows } = await tx.execute<{ id: string; services: string[] }>(sql`
    with ended as (
      update relations r set removed_at = ${now.toISOString()}::timestamptz
       where r.id = any(${sql.param(ids)}::bigint[]) and r.life = 'dying' and r.removed_at is null
         and not exists (select from relation_units p where p.relation_id = r.id and p.state <> 'broken')
      returning r.id
    ), forgotten as (
      delete from relation_seen s using ended e where s.relation_id = e.id
    )
    select id, (select array_agg(service_id::text) from relation_endpoints n where n.relation_id = ended.id) as services
      from ended order by id`);
  await recordChanges(
    tx,
    'relation',
    rows.map(({ id }) => id),
  );
  return [...new Set(rows.flatMap(({ services }) => services ?? []))].sort();
}

/** Locks relations until the commit, in the order in which every transaction locks them. */
export async function lockRelations(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.execute(sql`
    select from relations where id = any(${sql.param(ids)}::bigint[]) order by id for no key update`);
}
