import { and, asc, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutSteps } from '#db/schema/index.ts';
import { groupSql, outOfServiceSql } from '#server/domain/reservations/index.ts';
import type { AgentStatus, VmHealth } from '#server/domain/verdicts/index.ts';
import type { StepRow } from './pass.ts';
import { openStepsSql } from './state-lists.ts';

/** A member whose turn has come, with the row that it may have already. */
export interface Turn {
  vmId: string;
  place: number;
  /** Position of the planned kind. */
  kind: number;
  step: StepRow | null;
}

/** What decides whether a step can begin now. */
export interface TurnFacts {
  isGone: boolean;
  agent: AgentStatus;
  isHeld: boolean;
  health: VmHealth | null;
  /** The rollout whose open step the VM has; null if there is none. */
  openIn: string | null;
  /** The VM's disruption group: its availability set, or the value of the tag; null if it is in none. */
  group: string | null;
  /** Whether a VM of the group is reserved, and whether another VM of the group is out of service. */
  isGroupBusy: boolean;
  isGroupImpaired: boolean;
  /** Whether an extension that the change names is healthy, as far as the VM has it. */
  wasHealthy: boolean;
}

/** Returns the next members of a ring in order: from place `taken`, at most `limit`. */
export async function nextMembers(
  tx: Transaction,
  rolloutId: string,
  { ring, taken, limit }: { ring: number; taken: number; limit: number },
): Promise<Turn[]> {
  // Takes the part of the arrays first, because each access to a long array reads all of it.
  const { rows } = await tx.execute<{ vm_id: string; place: number; kind: number }>(sql`
    with parts as materialized (
      select m.first + b.low - 1 as first, m.vm_ids[b.low:b.high] as vm_ids,
             substring(m.kinds from b.low for b.high - b.low + 1) as kinds
        from rollout_members m
        cross join lateral (
          select greatest(1, ${taken}::int - m.first + 1) as low,
                 least(cardinality(m.vm_ids), ${taken + limit}::int - m.first) as high) b
       where m.rollout_id = ${rolloutId} and m.ring = ${ring}
         and m.first < ${taken + limit} and m.first + cardinality(m.vm_ids) > ${taken}
    )
    select u.vm_id, p.first + u.n::int - 1 as place, get_byte(p.kinds, u.n::int - 1) as kind
      from parts p cross join lateral unnest(p.vm_ids) with ordinality as u(vm_id, n)
     order by place`);
  return rows.map(({ vm_id, place, kind }) => ({ vmId: vm_id, place, kind, step: null }));
}

/** Returns the members of a ring that were recalled, in order. */
export async function recalledMembers(
  tx: Transaction,
  rolloutId: string,
  { ring, limit }: { ring: number; limit: number },
): Promise<Turn[]> {
  const rows = await tx
    .select()
    .from(rolloutSteps)
    .where(
      and(
        eq(rolloutSteps.rolloutId, rolloutId),
        eq(rolloutSteps.state, 'recalled'),
        eq(rolloutSteps.ring, ring),
        isNull(rolloutSteps.incarnation),
      ),
    )
    .orderBy(asc(rolloutSteps.place))
    .limit(limit);
  return rows.map(turnOf);
}

const turnOf = (step: StepRow): Turn => ({ vmId: step.vmId, place: step.place, kind: step.kind, step });

/**
 * Returns the parked members of a rollout in order. With `seenBefore`, only those that no pass has looked at since, the
 * longest waiting first if there are more than `limit`.
 */
export async function parkedMembers(
  tx: Transaction,
  rolloutId: string,
  { limit, seenBefore, now }: { limit: number; seenBefore: Date | null; now: Date },
): Promise<Turn[]> {
  const rows = await tx
    .select()
    .from(rolloutSteps)
    .where(
      and(
        eq(rolloutSteps.rolloutId, rolloutId),
        eq(rolloutSteps.state, 'parked'),
        // Parked members that stay declared are judged when their agent fetches the goal state.
        isNull(rolloutSteps.incarnation),
        // A clock that was set back leaves times in the future.
        seenBefore === null ? undefined : or(lte(rolloutSteps.updatedAt, seenBefore), gt(rolloutSteps.updatedAt, now)),
      ),
    )
    .orderBy(
      ...(seenBefore === null ? [] : [asc(rolloutSteps.updatedAt)]),
      asc(rolloutSteps.ring),
      asc(rolloutSteps.place),
    )
    .limit(limit);
  const inOrder = (a: StepRow, b: StepRow) => a.ring - b.ring || a.place - b.place;
  return rows.sort(inOrder).map(turnOf);
}

/** What the facts depend on: the tag of the rules, the change, and the rollout that this one reverts. */
interface TurnTerms {
  tag: string;
  handler: string | null;
  extension: string | null;
  reverts: string | null;
}

/** Whether another VM of the group of `v` is out of service, whatever the reason. */
const isImpairedSql = (tag: string): SQL => sql`
  case when v.disruption_group is not null then exists (
    select from vms o join vm_health x on x.vm_id = o.id
     where o.disruption_group = v.disruption_group and o.id <> v.id
       and (x.agent <> 'ready' or x.health in ('failed', 'unresponsive')))
  else exists (
    select from vm_health x join vms o on o.id = x.vm_id
     where v.tags ? ${tag} and x.tags @> jsonb_build_object(${tag}::text, v.tags ->> ${tag}) and x.vm_id <> v.id
       and o.disruption_group is null and (x.agent <> 'ready' or x.health in ('failed', 'unresponsive'))) end`;

/** Loads what decides whether the steps of these VMs can begin. */
export async function loadTurnFacts(
  tx: Transaction,
  vmIds: readonly string[],
  { tag, handler, extension, reverts }: TurnTerms,
): Promise<Map<string, TurnFacts>> {
  const { rows } = await tx.execute<FactsRow>(sql`
    with out_of_service as materialized (
      select o."group", count(*) as n, count(*) filter (where o.holder_id = ${reverts}) as reverted
        from (${outOfServiceSql(tag)}) o group by o."group")
    select v.id as vm_id, v.deleted_at is not null or v.decommissioning_at is not null as is_gone,
      coalesce(h.agent, 'never') as agent, h.health, o.since is not null as is_held, ${groupSql(tag)} as "group",
      (select s.rollout_id from rollout_steps s where s.vm_id = v.id and s.state in ${openStepsSql} limit 1) as open_in,
      coalesce(r.n - case when own.vm_id is null then 0 else r.reverted end, 0) > 0 as is_group_busy,
      ${isImpairedSql(tag)} as is_group_impaired,
      coalesce(h.agent = 'ready', false) and not exists (
        select from extension_health e where e.vm_id = v.id
          and (${handler}::text is null or e.handler = ${handler}) and (${extension}::text is null or e.name = ${extension})
          and e.health not in ('healthy', 'disabled')) as was_healthy
    from unnest(${sql.param(vmIds)}::uuid[]) as wanted(id)
    join vms v on v.id = wanted.id
    left join vm_health h on h.vm_id = v.id
    left join holds o on o.vm_id = v.id
    left join out_of_service r on r."group" = ${groupSql(tag)}
    left join group_reservations own on own.vm_id = v.id and own.holder_id = ${reverts}`);
  return new Map(
    rows.map((row) => [
      row.vm_id,
      {
        isGone: row.is_gone,
        agent: row.agent,
        isHeld: row.is_held,
        health: row.health,
        openIn: row.open_in,
        group: row.group,
        isGroupBusy: row.is_group_busy,
        isGroupImpaired: row.is_group_impaired,
        wasHealthy: row.was_healthy,
      },
    ]),
  );
}

interface FactsRow extends Record<string, unknown> {
  vm_id: string;
  is_gone: boolean;
  agent: AgentStatus;
  health: VmHealth | null;
  is_held: boolean;
  group: string | null;
  open_in: string | null;
  is_group_busy: boolean;
  is_group_impaired: boolean;
  was_healthy: boolean;
}

/** Returns which of these VMs are members of the given rollouts (RO-14). */
export async function membersOf(
  tx: Transaction,
  rolloutIds: readonly string[],
  vmIds: readonly string[],
): Promise<Set<string>> {
  if (rolloutIds.length === 0 || vmIds.length === 0) return new Set();
  const { rows } = await tx.execute<{ vm_id: string }>(sql`
    select distinct v.id as vm_id
      from unnest(${sql.param(rolloutIds)}::uuid[]) as r(id)
      cross join unnest(${sql.param(vmIds)}::uuid[]) as v(id)
      join rollout_members m on m.rollout_id = r.id and md5(r.id || '/' || v.id) between m.low and m.high
       and v.id = any(m.vm_ids)`);
  return new Set(rows.map(({ vm_id }) => vm_id));
}
