import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Side } from '#server/domain/service-rules/words.ts';
import { tellUnits } from './wake.ts';

/** The parts of a context that moving units needs. */
export type Moving = Pick<Context, 'now'>;

/** The run of a hook that causes a change. */
export interface CausingRun {
  vmId: string;
  id: string;
}

/** A unit that enters a relation. */
export interface Entering {
  relationId: number;
  unitId: string;
  side: Side;
}

/**
 * Adds units to relations, each with an empty node at version 1 and with the next value of the relation's clock. Leaves
 * out units that are in the relation, and relations that end.
 */
export async function joinUnits(
  tx: Transaction,
  { now }: Moving,
  entering: readonly Entering[],
  run: CausingRun | null,
): Promise<void> {
  if (entering.length === 0) return;
  const at = sql`${now.toISOString()}::timestamptz`;
  const column = (key: keyof Entering) => sql.param(entering.map((one) => one[key]));
  const moved = await tx.execute<{ id: string }>(sql`
    with given as materialized (
      select * from unnest(${column('relationId')}::bigint[], ${column('unitId')}::uuid[], ${column('side')}::text[])
        with ordinality as g (relation_id, unit_id, side, n)
    ), locked as materialized (
      select r.id, r.clock from relations r
       where r.id in (select relation_id from given) and r.life = 'alive' order by r.id for no key update
    ), fresh as materialized (
      select g.relation_id, g.unit_id, g.side,
        l.clock + row_number() over (partition by g.relation_id order by g.n) as clock
        from given g join locked l on l.id = g.relation_id
       where not exists (
         select from relation_units p where p.relation_id = g.relation_id and p.unit_id = g.unit_id)
    ), tick as (
      update relations r set clock = f.clock, moved_at = ${at}
        from (select relation_id, max(clock) as clock from fresh group by relation_id) f
       where r.id = f.relation_id
      returning r.id
    ), joined as (
      insert into relation_units (relation_id, unit_id, side, state, version, clock, settings, written_at)
      select relation_id, unit_id, side, 'in', 1, clock, '{}', ${at} from fresh
    ), logged as (
      insert into relation_log (relation_id, clock, unit_id, kind, version, delta, run_vm, run_id, at)
      select relation_id, clock, unit_id, 'joined', 1, '{}', ${run?.vmId ?? null}::uuid, ${run?.id ?? null}::uuid, ${at}
        from fresh
    )
    select id from tick order by id`);
  await tellMoved(
    tx,
    moved.rows.map(({ id }) => id),
  );
}

/** Makes units leave the relations that they are in. Each departure takes the next value of the relation's clock. */
export async function partUnits(tx: Transaction, { now }: Moving, unitIds: readonly string[]): Promise<void> {
  if (unitIds.length === 0) return;
  const at = sql`${now.toISOString()}::timestamptz`;
  const units = sql`${sql.param(unitIds)}::uuid[]`;
  const moved = await tx.execute<{ id: string }>(sql`
    with locked as materialized (
      select r.id, r.clock from relations r
       where r.id in (select relation_id from relation_units where unit_id = any(${units}) and state = 'in')
       order by r.id for no key update
    ), leaving as materialized (
      select p.relation_id, p.unit_id, p.version, l.clock from locked l join relation_units p on p.relation_id = l.id
       where p.unit_id = any(${units}) and p.state = 'in' for no key update of p
    ), placed as materialized (
      select relation_id, unit_id, version,
        clock + row_number() over (partition by relation_id order by unit_id) as clock from leaving
    ), tick as (
      update relations r set clock = f.clock, moved_at = ${at}
        from (select relation_id, max(clock) as clock from placed group by relation_id) f
       where r.id = f.relation_id
      returning r.id
    ), parted as (
      update relation_units p set state = 'left', clock = f.clock
        from placed f where p.relation_id = f.relation_id and p.unit_id = f.unit_id
    ), logged as (
      insert into relation_log (relation_id, clock, unit_id, kind, version, delta, at)
      select relation_id, clock, unit_id, 'left', version, '{}', ${at} from placed
    )
    select id from tick order by id`);
  await tellMoved(
    tx,
    moved.rows.map(({ id }) => id),
  );
}

/** Records that relations changed, and wakes the polls of their units' VMs. */
export async function tellMoved(tx: Transaction, ids: readonly string[]): Promise<void> {
  await recordChanges(tx, 'relation', ids);
  await tellUnits(tx, { relations: ids.map(Number) });
}
