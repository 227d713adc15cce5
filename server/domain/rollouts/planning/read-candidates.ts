import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import type { MemberChange } from '#server/domain/goal-states/index.ts';
import { groupSql } from '#server/domain/reservations/index.ts';
import { isUpgradedBy } from '../automatic/upgradable.ts';
import type { StoredRollout } from '../rows.ts';
import { isSelected } from './select-vms.ts';

/** A selected VM, with what a plan states about it besides the effect of the change. */
export interface SelectedVm {
  id: string;
  /** The VM's availability set; null if it has none. */
  set: string | null;
  /** Whether the agent no longer calls. */
  silent: boolean;
  /** For a revert of a rollout: what the VM gets back. */
  restore: Extract<MemberChange, { kind: 'restore' }> | null;
  /** Whether the VM comes first in its ring. */
  isFirst: boolean;
  /** For a revert of a rollout: whether someone changed an extension after the step. */
  isOvertaken: boolean;
}

/** Number of VMs that are read and evaluated together. */
const most = 5_000;

/** Reads the VMs that a rollout selects in the snapshot of the transaction, some thousand at a time. */
export async function* readCandidates(
  tx: Transaction,
  ctx: Context,
  rollout: StoredRollout,
  setTag: string,
): AsyncGenerator<SelectedVm[]> {
  await tx.execute(sql`set local cursor_tuple_fraction = 1`);
  await tx.execute(sql`declare rollout_candidates no scroll cursor for ${candidates(ctx, rollout, setTag)}`);
  for (;;) {
    const { rows } = await tx.execute<Read>(sql.raw(`fetch ${most} from rollout_candidates`));
    if (rows.length > 0) yield rows.map(candidateOf);
    if (rows.length < most) break;
  }
  await tx.execute(sql`close rollout_candidates`);
}

interface Read extends Record<string, unknown> {
  id: string;
  set: string | null;
  silent: boolean;
  incarnation: number | null;
  touched: { name: string; sequenceNumber: number }[] | null;
  first: boolean;
  overtaken: boolean;
}

function candidateOf({ id, set, silent, incarnation, touched, first, overtaken }: Read): SelectedVm {
  const extensions = (touched ?? []).map(({ name, sequenceNumber }) => ({ name, sequenceNumber }));
  const restore = incarnation === null ? null : { kind: 'restore' as const, incarnation, extensions };
  return { id, set, silent, restore, isFirst: first, isOvertaken: overtaken };
}

function candidates(ctx: Context, rollout: StoredRollout, setTag: string): SQL {
  const { select, availabilitySets } = rollout.definition;
  const set = availabilitySets === 'ignore' ? sql`null::text` : groupSql(setTag);
  const vm = sql`v.id, ${set} as set, coalesce(h.agent = 'unresponsive', false) as silent`;
  const among = sql`v.deleted_at is null and ${isSelected(ctx, select)} and ${isUpgradedBy(rollout, sql`v.id`)}`;
  if (!revertsRollout(rollout)) {
    return sql`
      select ${vm}, null::int as incarnation, null::json as touched, false as first, false as overtaken
      from vms v left join vm_health h on h.vm_id = v.id where ${among}`;
  }
  return sql`
    select ${vm}, s.before_incarnation as incarnation, s.touched, s.state in ('failed', 'stuck') as first,
      (s.state = 'overtaken' or ${isOvertaken}) as overtaken
    from rollout_steps s join vms v on v.id = s.vm_id left join vm_health h on h.vm_id = v.id
    where s.rollout_id = ${rollout.of} and s.before_incarnation is not null
      and s.state not in ('recalled', 'skipped', 'gone')
      and not (s.state in ('parked', 'unreached', 'reverted') and ${isOvertaken})
      and ${'ring' in select ? sql`s.ring = ${select.ring}` : sql`true`} and ${among}`;
}

/** Whether a rollout reverts another one, so that its members are the steps of that rollout. */
export const revertsRollout = ({ of, definition: { change } }: StoredRollout): boolean =>
  of !== null && change.kind === 'revert';

/** SQL condition for steps `s` whose extensions no longer have the step's sequence numbers. */
const isOvertaken = sql`exists (
  select from json_array_elements(s.touched) t
  left join extensions e on e.vm_id = s.vm_id and e.name = t ->> 'name'
  left join extension_sequences q on q.vm_id = s.vm_id and q.name = t ->> 'name'
  where coalesce(e.sequence_number, q.highest) is distinct from (t ->> 'sequenceNumber')::bigint)`;
