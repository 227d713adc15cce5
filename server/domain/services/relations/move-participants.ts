import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { joinUnits, type Moving, tellMoved } from './move-units.ts';

/** A unit that enters a relation, or leaves it, because its deployment changes its slot. */
export interface MovedParticipant {
  relationId: number;
  unitId: string;
  /** `new`: it was not in the relation before. */
  move: 'new' | 'in' | 'left';
}

/**
 * Lists the moves of the units of a cloud service whose deployment `production` is in Production, or will be: there,
 * units enter the relations that their service provides; in the other deployment they leave them.
 */
export async function listMoves(
  tx: Pick<Transaction, 'execute'>,
  cloudService: string,
  production: string | null,
): Promise<MovedParticipant[]> {
  const { rows } = await tx.execute<Omit<MovedParticipant, 'relationId'> & { relationId: string }>(sql`
    select * from (
      select r.id as "relationId", u.id as "unitId",
        case when g.deployment = ${production} then
            case when p.unit_id is null then 'new' when p.state = 'left' then 'in' end
          when p.state = 'in' then 'left' end as move
        from vm_roles g
        join units u on u.vm_id = g.vm_id and u.life = 'alive' and u.removed_at is null and u.entered_at is not null
        join relation_endpoints e on e.service_id = u.service_id and e.side = 'provides'
        join relations r on r.id = e.relation_id and r.life = 'alive' and r.removed_at is null
        left join relation_units p on p.relation_id = r.id and p.unit_id = u.id
       where g.cloud_service = ${cloudService}
       order by r.id, u.service_id, u.number) m
     where move is not null`);
  return rows.map((row) => ({ ...row, relationId: Number(row.relationId) }));
}

/**
 * Makes units enter and leave relations, each with the next value of the relation's clock. A unit that comes back has the
 * settings that it had. The services of the units are locked.
 */
export async function moveParticipants(
  tx: Transaction,
  ctx: Moving,
  moves: readonly MovedParticipant[],
): Promise<void> {
  if (moves.length === 0) return;
  const fresh = moves.filter(({ move }) => move === 'new');
  const entering = fresh.map(({ relationId, unitId }) => ({ relationId, unitId, side: 'provides' as const }));
  await joinUnits(tx, ctx, entering, null);
  const at = sql`${ctx.now.toISOString()}::timestamptz`;
  const column = (key: keyof MovedParticipant) => sql.param(moves.map((one) => one[key]));
  const { rows } = await tx.execute<{ id: string }>(sql`
    with given as materialized (
      select * from unnest(${column('relationId')}::bigint[], ${column('unitId')}::uuid[], ${column('move')}::text[])
        with ordinality as g (relation_id, unit_id, move, n)
    ), fresh as (
      update relation_units p set moved_clock = p.clock from given g
       where g.move = 'new' and p.relation_id = g.relation_id and p.unit_id = g.unit_id
    ), locked as materialized (
      select r.id, r.clock from relations r
       where r.id in (select relation_id from given where move <> 'new') order by r.id for no key update
    ), placed as materialized (
      select g.relation_id, g.unit_id, g.move,
        l.clock + row_number() over (partition by g.relation_id order by g.n) as clock
        from given g join locked l on l.id = g.relation_id where g.move <> 'new'
    ), tick as (
      update relations r set clock = f.clock, moved_at = ${at}
        from (select relation_id, max(clock) as clock from placed group by relation_id) f
       where r.id = f.relation_id
      returning r.id
    ), moved as (
      update relation_units p set state = f.move, clock = f.clock, moved_clock = f.clock
        from placed f where p.relation_id = f.relation_id and p.unit_id = f.unit_id
      returning p.relation_id, p.unit_id, p.version, p.clock, p.state
    ), logged as (
      insert into relation_log (relation_id, clock, unit_id, kind, version, delta, at)
      select relation_id, clock, unit_id, case state when 'in' then 'joined' else 'left' end, version, '{}', ${at}
        from moved
    )
    select id from tick order by id`);
  await tellMoved(
    tx,
    rows.map(({ id }) => id),
  );
}
