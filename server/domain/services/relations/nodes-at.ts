import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { DomainError } from '#server/domain/error.ts';
import type { SealedSettings } from '#server/domain/service-rules/stored.ts';
import type { Side } from '#server/domain/service-rules/words.ts';
import type { RelationRow } from './create-relation.ts';

/** A node at one of the relation’s clocks. */
export interface PastNode {
  unitId: string;
  unit: string;
  vmId: string;
  side: Side;
  version: number;
  /** The sealed value of each key. */
  values: Map<string, string>;
  /** The clock of the event that wrote the node, and the run that caused it; null if the history no longer has it. */
  written: { clock: number; at: string; run: { vmId: string; id: string; hook: string; number: number } | null } | null;
}

/**
 * Returns the nodes of the units that took part at one of the relation’s clocks, by the name of the unit (EN-74). They
 * are the current nodes with later changes undone: the log has the value of each changed key before the change. Throws
 * 404 `relation_history_gone` if the log no longer goes back that far.
 */
export async function nodesAt(
  tx: Database | Transaction,
  { id }: Pick<RelationRow, 'id'>,
  clock: number,
): Promise<PastNode[]> {
  await requireHistory(tx, id, clock);
  const { rows } = await tx.execute<NodeRow>(sql`
    with since as (
      select unit_id, count(*) filter (where kind = 'changed')::int as changes
        from relation_log where relation_id = ${id} and clock > ${clock} group by unit_id
    ), undone as (
      select unit_id, json_object_agg(key, before) as keys from (
        select distinct on (l.unit_id, d.key) l.unit_id, d.key, d.value -> 0 as before
          from relation_log l, jsonb_each(l.delta) d
         where l.relation_id = ${id} and l.clock > ${clock} order by l.unit_id, d.key, l.clock) first_change
       group by unit_id
    ), written as (
      select distinct on (unit_id) unit_id, clock, at, run_vm, run_id from relation_log
       where relation_id = ${id} and clock <= ${clock} and kind in ('joined', 'changed') order by unit_id, clock desc
    )
    select p.unit_id as "unitId", u.name as unit, u.vm_id as "vmId", p.side,
      p.version - coalesce(s.changes, 0) as version, p.settings, n.keys as undone,
      w.clock, w.at, case when r.id is null then null
        else json_build_object('vmId', r.vm_id, 'id', r.id, 'hook', r.hook, 'number', r.number) end as run
      from relation_units p join units u on u.id = p.unit_id
      left join since s on s.unit_id = p.unit_id
      left join undone n on n.unit_id = p.unit_id
      left join written w on w.unit_id = p.unit_id
      left join hook_runs r on r.vm_id = w.run_vm and r.id = w.run_id
     where p.relation_id = ${id} and coalesce(
       (select l.kind = 'joined' from relation_log l
         where l.relation_id = ${id} and l.unit_id = p.unit_id and l.kind in ('joined', 'left') and l.clock <= ${clock}
         order by l.clock desc limit 1),
       (select l.kind = 'left' from relation_log l
         where l.relation_id = ${id} and l.unit_id = p.unit_id and l.kind in ('joined', 'left') and l.clock > ${clock}
         order by l.clock limit 1), true)
     order by u.service_id, u.number`);
  return rows.map(({ settings, undone, clock: at, at: time, run, ...node }) => ({
    ...node,
    values: undo(settings, undone ?? {}),
    written: at === null || time === null ? null : { clock: Number(at), at: new Date(time).toISOString(), run },
  }));
}

interface NodeRow extends Record<string, unknown> {
  unitId: string;
  unit: string;
  vmId: string;
  side: Side;
  version: number;
  settings: SealedSettings;
  /** The value before the first later change of each key; null if the node did not have the key. */
  undone: Record<string, string | null> | null;
  clock: string | null;
  at: string | null;
  run: { vmId: string; id: string; hook: string; number: number } | null;
}

function undo(settings: SealedSettings, undone: Readonly<Record<string, string | null>>): Map<string, string> {
  const values = new Map(Object.entries(settings).map(([key, [sealed]]) => [key, sealed]));
  for (const [key, before] of Object.entries(undone)) {
    if (before === null) values.delete(key);
    else values.set(key, before);
  }
  return new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function requireHistory(tx: Database | Transaction, id: number, clock: number): Promise<void> {
  const { rows } = await tx.execute<{ isKept: boolean }>(sql`select ${firstKnown(id)} <= ${clock} as "isKept"`);
  if (rows[0]?.isKept !== true) throw new DomainError('not_found', 'relation_history_gone');
}

/**
 * SQL for the first clock at which the state is known: 0, or the clock of the last event that was deleted. Departures
 * are never deleted, so those directly before the first other event belong to the history that is known.
 */
const firstKnown = (id: number) => sql`(
  with first as (
    select coalesce(min(l.clock) filter (where l.kind <> 'left'), max(r.clock) + 1) as clock
      from relations r left join relation_log l on l.relation_id = r.id where r.id = ${id}
  )
  select coalesce(min(d.clock), max(f.clock)) - 1 from first f left join (
    select l.clock, l.clock + row_number() over (order by l.clock desc) as next
      from relation_log l, first where l.relation_id = ${id} and l.kind = 'left' and l.clock < first.clock
  ) d on d.next = f.clock)`;

/**
 * Returns the relation’s clock at a time, or the given clock if it is not above the current one. Only events before
 * `keptSince` were deleted.
 */
export async function clockAt(
  tx: Database | Transaction,
  { id, clock }: Pick<RelationRow, 'id' | 'clock'>,
  at: string | undefined,
  keptSince: Date,
): Promise<number> {
  if (at === undefined) return clock;
  if (/^\d+$/.test(at)) {
    if (Number(at) > clock) throw new DomainError('not_found', 'relation_clock_unknown', { params: { clock } });
    return Number(at);
  }
  const time = storableTime(at);
  const isKept = sql`${time}::timestamptz >= ${keptSince.toISOString()}::timestamptz`;
  const { rows } = await tx.execute<{ clock: string }>(sql`
    select greatest(coalesce(max(clock), 0), case when ${isKept} then ${firstKnown(id)} else 0 end) as clock
      from relation_log where relation_id = ${id} and at <= ${time}::timestamptz`);
  return Number(rows[0]?.clock ?? 0);
}

/** Returns a time that PostgreSQL can read. Nothing happened before 1970, and nothing after 9999. */
const storableTime = (at: string): string =>
  new Date(Math.min(Math.max(Date.parse(at), 0), Date.UTC(9999, 0))).toISOString();
