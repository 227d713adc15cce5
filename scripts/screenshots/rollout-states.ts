import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { rolloutCurve, rolloutMembers, rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RolloutPlan } from '#server/domain/rollout-rules/stored.ts';
import { memberKinds, type StepState } from '#server/domain/rollout-rules/words.ts';
import { type PicturedRing, type PicturedRollout, picturedRollouts, planHash } from './pictured-rollouts.ts';

type Db = Services['db'];
type Stored = typeof rollouts.$inferSelect;

/** Number of VMs whose steps the pictures show. They are deleted VMs, so that the VM list does not show them. */
const vmCount = 6_000;
const secondMs = 1_000;

/**
 * Stores rollouts in states that a demo reaches only after hours, unless they exist. No worker looks at them, so that
 * they stay as they are. `like` is a rollout with the definition that all of them have. Returns their ids by state.
 */
export async function storeRolloutStates(db: Db, like: string): Promise<Record<string, string>> {
  const [base] = await db.select().from(rollouts).where(eq(rollouts.id, like));
  if (base === undefined) throw new Error(`There is no rollout ${like}.`);
  const vmIds = await storeVms(db);
  const known = await db.select({ id: rollouts.id, name: rollouts.name }).from(rollouts);
  const ids: Record<string, string> = {};
  // No VM has two open steps, so each rollout has its own VMs.
  let first = 0;
  for (const one of picturedRollouts(Date.now())) {
    const own = vmIds.slice(first);
    ids[one.state] = known.find(({ name }) => name === one.name)?.id ?? (await storeRollout(db, base, one, own));
    first += one.rings.reduce((sum, { steps }) => sum + stepsIn(steps), 0);
  }
  await linkReverts(db);
  return ids;
}

/** Links the rollouts that were reverted with their reverts. */
async function linkReverts(db: Db): Promise<void> {
  const pair = sql`o.created_by = 'Ada Brandt' and r.kind = 'revert' and r.name = 'Revert: ' || o.name`;
  await db.execute(sql`update rollouts o set reverted_by = r.id from rollouts r where ${pair}`);
  await db.execute(sql`update rollouts r set of = o.id from rollouts o where ${pair}`);
}

const stepsIn = (steps: PicturedRing['steps']): number => Object.values(steps).reduce((sum, n) => sum + n, 0);

async function storeVms(db: Db): Promise<string[]> {
  await db.execute(sql`
    insert into vms (id, name, tags, created_at, created_by, deleted_at)
    select gen_random_uuid(), 'cache-eu' || (n % 4 + 1) || '-' || lpad(n::text, 4, '0'), '{}', now(), 'Pictures', now()
      from generate_series(1, ${vmCount}::int) n
     where not exists (select from vms where created_by = 'Pictures')`);
  const { rows } = await db.execute<{ id: string }>(
    sql`select id from vms where created_by = 'Pictures' order by right(name, 4)`,
  );
  return rows.map(({ id }) => id);
}

async function storeRollout(db: Db, base: Stored, one: PicturedRollout, vmIds: readonly string[]): Promise<string> {
  const id = randomUUID();
  const members = one.rings.reduce((sum, { size }) => sum + size, 0);
  const gates = base.definition.rings.at(-1)?.gates;
  if (gates === undefined) throw new Error('The rollout has a ring.');
  const rings = one.rings.map(({ name, approval = false }) => ({
    ...{ name, approval, filter: null, upTo: null, windows: [], gates },
  }));
  await db.insert(rollouts).values({
    ...base,
    ...{ id, name: one.name, dueAt: null, servedAt: null, members, epoch: base.epoch },
    ...{ planHash, plannedAt: new Date(one.now - 7_200 * secondMs), plannedBy: 'Ada Brandt' },
    plan: one.rings.length === 0 ? null : planOf(one, members),
    ...{ createdAt: new Date(one.now - 10_800 * secondMs), createdBy: 'Ada Brandt', startedBy: 'Mei Tanaka' },
    ...{ startedAt: new Date(one.now - 5_400 * secondMs) },
    definition: {
      ...base.definition,
      ...one.definition,
      change: { ...base.definition.change, ...one.change },
      rings: one.rings.length === 0 ? base.definition.rings : rings,
    },
    ...one.values,
  });
  let [first, begun] = [0, 0];
  for (const [ring, of] of one.rings.entries()) {
    await storeRing(db, { id, ring, first, of, now: one.now });
    await storeSteps(db, { id, ring, of, now: one.now, isRun: one.change?.kind === 'run' }, vmIds.slice(begun));
    first += of.size;
    begun += stepsIn(of.steps);
  }
  return id;
}

/** The plan of a rollout in pictures, which began at 5,400 and probably ends in two hours. */
function planOf({ rings, now, needsApproval = false, change }: PicturedRollout, members: number): RolloutPlan {
  const kind = change?.kind === 'run' ? ('run' as const) : ('update' as const);
  const at = (seconds: number) => new Date(now + seconds * secondMs).toISOString();
  return {
    ...{ hash: planHash, at: at(-7_200), by: 'Ada Brandt', members, unchanged: 38, matched: members + 38 },
    ...{ kinds: { [kind]: members }, refused: {}, notRevertible: {}, overlaps: [], uncheckedSettings: 0 },
    ...{ earliestEnd: at(3_600), likelyEnd: at(7_200), approval: needsApproval },
    rings: rings.map(({ name, size }) => ({
      ...{ name, size, kinds: { [kind]: size }, inFlight: Math.ceil(size / 10), bytes: size * 1_048_576, restarts: 0 },
      ...{ silent: 0, sets: { touched: 0, longest: 0 }, longestSeconds: 600 },
    })),
  };
}

interface Place {
  id: string;
  ring: number;
  of: PicturedRing;
  now: number;
  isRun?: boolean;
}

async function storeRing(db: Db, { id, ring, first, of, now }: Place & { first: number }): Promise<void> {
  await db.insert(rolloutRings).values({
    ...{
      rolloutId: id,
      ring,
      first,
      taken: stepsIn(of.steps),
      size: of.size,
      state: of.state,
      verdicts: of.verdicts ?? [],
    },
    counts: { ...emptyCounts(), ...of.steps, ...of.pairs },
    openedAt: of.state === 'waiting' ? null : new Date(now - 4_000 * secondMs),
    metAt: of.state === 'baking' || of.state === 'passed' ? new Date(now - 1_200 * secondMs) : null,
    passedAt: of.state === 'passed' ? new Date(now - 600 * secondMs) : null,
  });
  if (of.curve === undefined) return;
  await db.insert(rolloutCurve).values(of.curve.map((point) => ({ rolloutId: id, ring, ...point })));
}

const failure = { extension: 'share', handler: 'Northwind.Storage.Mount', version: '2.0.0.0' };
const failures = [
  { cause: 'exit', failure: { ...failure, command: 'enable', exitCode: 51, messageId: 'Error_NoPassword' } },
  { cause: 'exit', failure: { ...failure, command: 'enable', exitCode: 51, messageId: 'Error_NoPassword' } },
  { cause: 'status', failure: { ...failure, command: null, exitCode: null, messageId: '1215' } },
  { cause: 'timeout', failure: { ...failure, command: 'update', exitCode: null, messageId: null } },
];
const runFailures = ['code:107', 'code:107', 'timeout', 'lost', 'code:1', 'cancelled'];
const parked = ['silent', 'silent', 'set-busy', 'on-hold', 'not-fetching'];
const skipped = ['moved', 'superseded', 'already'];

async function storeSteps(
  db: Db,
  { id, ring, of, now, isRun = false }: Place,
  vmIds: readonly string[],
): Promise<void> {
  const states = (Object.entries(of.steps) as [StepState, number][]).flatMap(([state, n]) =>
    Array.from({ length: n }, (_, index) => ({ state, index })),
  );
  // Mixed, as in a ring in which VMs end at different times; those in flight come last.
  const isLate = ({ state }: { state: StepState }) => ['soaking', 'inFlight'].includes(state);
  const mixed = states
    .map((step, at) => ({ step, at: isLate(step) ? states.length + at : (at * 7_919) % states.length }))
    .toSorted((a, b) => a.at - b.at);
  const steps = mixed.flatMap(({ step }, place) => {
    const vmId = vmIds[place];
    return vmId === undefined ? [] : [stepOf({ id, ring, now, isRun }, { ...step, place, vmId })];
  });
  for (let from = 0; from < steps.length; from += 500) {
    await db.insert(rolloutSteps).values(steps.slice(from, from + 500));
  }
  const own = vmIds.slice(0, Math.min(of.size, 4_096));
  if (own.length === 0) return;
  await db.insert(rolloutMembers).values({
    ...{ rolloutId: id, ring, first: 0, low: '0', high: 'g', vmIds: own },
    kinds: Buffer.from(own.map(() => kindOf(isRun))),
  });
}

const kindOf = (isRun: boolean): number => memberKinds.indexOf(isRun ? 'run' : 'update');

interface Step {
  state: StepState;
  index: number;
  place: number;
  vmId: string;
}

function stepOf({ id, ring, now, isRun = false }: Omit<Place, 'of'>, { state, index, place, vmId }: Step) {
  const at = (seconds: number) => new Date(now - seconds * secondMs);
  const isOpen = state === 'inFlight' || state === 'soaking';
  const hasBegun = isOpen || ['succeeded', 'failed', 'reverted', 'stuck', 'overtaken'].includes(state);
  const reason =
    state === 'failed' || state === 'reverted'
      ? isRun
        ? { cause: runFailures[index % runFailures.length] }
        : failures[index % failures.length]
      : { cause: state === 'parked' ? parked[index % parked.length] : state === 'skipped' ? skipped[index % 3] : null };
  const touched = {
    ...{ name: 'share', sequenceNumber: 2, version: '2.0.0.0' },
    before: { version: '1.4.2.0', sequenceNumber: 1 },
  };
  return {
    ...{ vmId, rolloutId: id, ring, place, state, kind: kindOf(isRun) },
    ...reason,
    ...(hasBegun && { touched: isRun ? [] : [touched], attempt: 1, publishedAt: at(3_600 - place), incarnation: 2 }),
    ...(state === 'soaking' && { healthyAt: at(120) }),
    decidedAt: hasBegun && !isOpen ? at(2_400 - place) : null,
    overtakenBy:
      state === 'overtaken' ? { by: 'Jonas Weber', action: 'extension.set', at: at(900).toISOString() } : null,
    updatedAt: at(60),
  };
}
