import { eq, sql } from 'drizzle-orm';
import { vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { isoOrNull } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { Definition, RingPlan } from '#server/domain/rollout-rules/stored.ts';
import { openStates, type RolloutKind, type RolloutState, type StepState } from '#server/domain/rollout-rules/words.ts';
import type { BlockerView, MembershipView } from './answers.ts';
import { findBlockers } from './find-blockers.ts';
import { type RolloutsOfVmInput, rolloutsOfVmInput } from './input.ts';

interface Membership extends Record<string, unknown> {
  id: string;
  name: string;
  kind: RolloutKind;
  state: RolloutState;
  handler: string | null;
  definition: Definition;
  created_at: Date;
  ring: number;
  ring_plan: RingPlan | null;
  size: number;
  place: number;
  step: StepState | null;
  cause: string | null;
  incarnation: number | null;
  published_at: Date | null;
  decided_at: Date | null;
}

/** Maximum number of rollouts in the answer; the newest come first. */
const most = 100;

/**
 * Lists the rollouts that changed a VM, and the open ones in which its turn has not come yet. Works for deleted VMs too.
 * Throws 404 `vm_unknown`.
 */
export async function listRolloutsOfVm(ctx: Context, input: RolloutsOfVmInput): Promise<{ items: MembershipView[] }> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(rolloutsOfVmInput, input);
  const [vm] = await ctx.db.select({ id: vms.id }).from(vms).where(eq(vms.id, vmId));
  if (vm === undefined) throw new DomainError('not_found', 'vm_unknown');
  const { rows } = await ctx.db.execute<Membership>(sql`
    with reached as (
      select rollout_id, ring, place, state as step, cause, incarnation, published_at, decided_at
      from rollout_steps where vm_id = ${vmId}),
    queued as (
      select m.rollout_id, m.ring, m.first + array_position(m.vm_ids, ${vmId}::uuid) - 1 as place
      from rollouts r join rollout_members m on m.rollout_id = r.id
      where r.state = any(${sql.param([...openStates])}::text[])
        and md5(r.id::text || '/' || ${vmId}) between m.low and m.high
        and m.vm_ids @> array[${vmId}::uuid]
        and not exists (select from reached s where s.rollout_id = r.id))
    select r.id, r.name, r.kind, r.state, r.handler, r.definition, r.created_at, g.plan as ring_plan,
      coalesce(g.size, 0) as size, p.*
    from (
      select * from reached
      union all
      select rollout_id, ring, place, null, null, null, null, null from queued) p
    join rollouts r on r.id = p.rollout_id
    left join rollout_rings g on g.rollout_id = r.id and g.ring = p.ring
    order by r.created_at desc, r.id desc limit ${most}`);
  const parked = rows.filter(({ step }) => step === 'parked');
  const blockers = await findBlockers(ctx, vmId, new Set(parked.map(({ cause }) => cause)));
  return { items: rows.map((row) => membershipOf(row, blockers)) };
}

function membershipOf(row: Membership, blockers: ReadonlyMap<string | null, BlockerView>): MembershipView {
  const { id, name, kind, state, handler, definition, ring } = row;
  return {
    rollout: {
      ...{ id, name, kind, state, handler },
      extension: definition.change.extension,
      runbook: definition.change.run?.runbook ?? null,
      createdAt: instantOf(row.created_at) ?? '',
    },
    ring: { index: ring, name: row.ring_plan?.name ?? definition.rings[ring]?.name ?? '', size: row.size },
    place: row.place,
    state: row.step ?? 'queued',
    cause: row.cause,
    waitsFor: (row.step === 'parked' && blockers.get(row.cause)) || null,
    incarnation: row.incarnation,
    publishedAt: instantOf(row.published_at),
    decidedAt: instantOf(row.decided_at),
  };
}

/** Raw statements return times as text. */
const instantOf = (value: Date | string | null): string | null => isoOrNull(value === null ? null : new Date(value));
