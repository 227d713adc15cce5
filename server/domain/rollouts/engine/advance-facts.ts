import { and, eq, inArray, sql } from 'drizzle-orm';
import { rolloutRules, rolloutSteps } from '#db/schema/index.ts';
import type { AdvanceInput, RingFacts, RolloutFacts } from '#server/domain/rollout-rules/advance-facts.ts';
import { hasLostSecrets } from '../secrets.ts';
import { withdrawnVersion } from '../withdrawn-version.ts';
import { parkedMembers } from './load-members.ts';
import type { Pass } from './pass.ts';
import { movingSql, openStepsSql } from './state-lists.ts';
import { type ChosenTurn, chooseTurns } from './turns.ts';

/** If more members are parked than one pass looks at, each one is looked at again after this many seconds. */
const parkedSeconds = 60;

/** What `advance` needs, and the parked members whose obstacle is gone. */
export interface AdvanceFacts {
  input: AdvanceInput;
  parked: ChosenTurn[];
}

/** Loads what decides how the rollout continues. */
export async function loadAdvanceFacts(pass: Pass): Promise<AdvanceFacts> {
  const { ctx, row, rules, freezes } = pass;
  const open = await openStepsOf(pass);
  const portal = await portalOf(pass);
  const parked = await parkedOf(pass);
  const nextBatchAt = latest(row.nextBatchAt, portal.nextBatchAt);
  return {
    parked,
    input: {
      rollout: await rolloutFacts(pass),
      rings: pass.rings.map((_, ring) => ringFacts(pass, ring, parked, open.held.get(ring) ?? 0)),
      freezes,
      nextBatchAt,
      portalInFlight: portal.inFlight,
      maxPortalInFlight: rules.inFlight,
      nextStepAt: open.nextStepAt,
      isBehind: pass.isBehind,
      now: ctx.now,
    },
  };
}

const latest = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a);

async function rolloutFacts({ tx, ctx, row }: Pass): Promise<RolloutFacts> {
  const { definition } = row;
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    pausedBy: row.pausedBy,
    why: row.why,
    onHalt: definition.onHalt,
    newcomers: definition.newcomers,
    keepDays: definition.keepDays,
    noProgressSeconds: definition.noProgressSeconds,
    startAt: row.startAt,
    progressAt: row.progressAt,
    isSuperseded: row.supersededBy !== null,
    epochChanged: row.epoch !== ctx.epoch,
    secretsLost: hasLostSecrets(row),
    versionWithdrawn: await withdrawnVersion(tx, definition),
  };
}

function ringFacts(pass: Pass, index: number, parked: readonly ChosenTurn[], held: number): RingFacts {
  const ring = pass.rings[index];
  if (ring === undefined) throw new RangeError(`the rollout has no ring ${index}`);
  const { row, definition, counts } = ring;
  const own = parked.filter(({ turn }) => turn.step?.ring === index);
  const blocked = (cause: string) =>
    own.filter(({ choice }) => choice.what === 'park' && choice.cause === cause).length;
  return {
    ring: index,
    state: row.state,
    size: row.size,
    counts,
    gates: definition.gates,
    overruled: row.overruled ?? null,
    openedAt: row.openedAt,
    metAt: row.metAt,
    passedAt: row.passedAt,
    approval: definition.approval,
    isApproved: row.approvals.some(({ approved }) => approved),
    advanced: row.advanced,
    candidates: pass.rings.slice(index + 1).reduce((sum, later) => sum + later.row.size - later.taken, 0),
    windows: definition.windows.length > 0 ? definition.windows : pass.row.definition.windows,
    longestSeconds: row.plan?.longestSeconds ?? 0,
    ready: own.filter(({ choice }) => choice.what !== 'park').length,
    held,
    setsBusy: blocked('set-busy'),
    vmsBusy: blocked('vm-busy'),
  };
}

/**
 * Looks at the members that are parked; in a rollout that moves no further, no member begins. If they are more than one
 * pass looks at, passes take them in turn.
 */
async function parkedOf(pass: Pass): Promise<ChosenTurn[]> {
  const { tx, ctx, row, rings, parkedAtOnce: limit } = pass;
  if (row.state !== 'running' && row.state !== 'keeping') return [];
  const parked = rings.reduce((sum, { counts }) => sum + counts.parked, 0);
  if (parked === 0) return [];
  const all = { limit, seenBefore: null, now: ctx.now };
  if (parked <= limit) return chooseTurns(pass, await parkedMembers(tx, row.id, all));
  const seenBefore = new Date(ctx.now.getTime() - parkedSeconds * 1_000);
  const turns = await parkedMembers(tx, row.id, { ...all, seenBefore });
  const vmIds = turns.map(({ vmId }) => vmId);
  await tx
    .update(rolloutSteps)
    .set({ updatedAt: ctx.now })
    .where(and(eq(rolloutSteps.rolloutId, row.id), inArray(rolloutSteps.vmId, vmIds)));
  return chooseTurns(pass, turns);
}

async function openStepsOf({ tx, row }: Pass): Promise<{ nextStepAt: Date | null; held: Map<number, number> }> {
  const { rows } = await tx.execute<{ ring: number; due: string | null; held: number }>(sql`
    select s.ring, min(s.due_at) as due,
      count(*) filter (where o.since is not null and s.state = 'inFlight' and s.delivered_at is not null)::int as held
      from rollout_steps s left join holds o on o.vm_id = s.vm_id
     where s.rollout_id = ${row.id} and s.state in ${openStepsSql}
     group by s.ring`);
  const due = rows.flatMap((one) => (one.due === null ? [] : [new Date(one.due).getTime()]));
  return {
    nextStepAt: due.length === 0 ? null : new Date(Math.min(...due)),
    held: new Map(rows.map(({ ring, held }) => [ring, held])),
  };
}

/**
 * Locks the rules, so that the batches of all workers follow one another, and returns how many steps of all rollouts
 * are in flight. Rollouts whose members cannot begin take no lock.
 */
async function portalOf(pass: Pass): Promise<{ inFlight: number; nextBatchAt: Date | null }> {
  const { tx, row, rules } = pass;
  const isWaiting = pass.rings.some(
    ({ row: { size }, taken, counts }) => taken < size || counts.recalled + counts.parked > 0,
  );
  if (!isWaiting || (row.state !== 'running' && row.state !== 'keeping')) return { inFlight: 0, nextBatchAt: null };
  // The row exists only once someone changed the rules, or once the first batch needed its lock.
  await tx
    .insert(rolloutRules)
    .values({ id: 1, rules, changedAt: pass.ctx.now, changedBy: pass.ctx.actor.name })
    .onConflictDoNothing();
  const { rows } = await tx.execute<{ next: string | null }>(
    sql`select next_batch_at as next from rollout_rules where id = 1 for update`,
  );
  const counted = await tx.execute<{ n: number }>(sql`
    select coalesce(sum((r.counts->>'inFlight')::int + (r.counts->>'retrying')::int + (r.counts->>'reverting')::int), 0)::int as n
      from rollout_rings r join rollouts o on o.id = r.rollout_id
     where o.state in ${movingSql} and o.id <> ${row.id}`);
  const own = pass.rings.reduce((sum, { counts }) => sum + counts.inFlight + counts.retrying + counts.reverting, 0);
  const next = rows[0]?.next ?? null;
  return { inFlight: (counted.rows[0]?.n ?? 0) + own, nextBatchAt: next === null ? null : new Date(next) };
}
