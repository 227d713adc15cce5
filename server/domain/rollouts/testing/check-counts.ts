import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { rolloutRings, rollouts } from '#db/schema/index.ts';
import { shownCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RingCounts } from '#server/domain/rollout-rules/stored.ts';
import { endedStates, memberCounts, type RolloutState, stepStates } from '#server/domain/rollout-rules/words.ts';

type StepNumbers = ReadonlyMap<string, number>;

/** Throws unless the counts of every rollout agree with its steps, and add up to its members. */
export async function checkCounts(db: Database): Promise<void> {
  const all = await db.select({ id: rollouts.id, state: rollouts.state, members: rollouts.members }).from(rollouts);
  const rings = await db.select().from(rolloutRings);
  const { rows } = await db.execute<{ key: string; n: number }>(sql`
    select concat_ws('/', rollout_id, ring, state) as key, count(*)::int as n from rollout_steps group by key`);
  const steps = new Map(rows.map(({ key, n }) => [key, n]));
  for (const { id, state, members } of all) {
    const own = rings.filter(({ rolloutId }) => rolloutId === id);
    if (own.length === 0) continue;
    for (const { ring, size, taken, counts } of own) checkRing(`${id}/${ring}`, { size, taken, counts, state }, steps);
    const shown = shownCounts(
      members,
      own.map(({ counts }) => counts),
    );
    const sum = memberCounts.reduce((total, name) => total + shown[name], 0);
    if (sum !== members || memberCounts.some((name) => shown[name] < 0)) fail(id, { members, shown });
  }
}

function checkRing(
  key: string,
  { size, taken, counts, state }: { size: number; taken: number; counts: RingCounts; state: RolloutState },
  steps: StepNumbers,
): void {
  const isEnded = (endedStates as readonly RolloutState[]).includes(state);
  const numberOf = (step: string) => steps.get(`${key}/${step}`) ?? 0;
  for (const step of stepStates) {
    // Members of an ended rollout that have no step were not reached.
    const isMore = isEnded && step === 'unreached' && counts[step] >= numberOf(step);
    if (counts[step] !== numberOf(step) && !isMore) fail(key, { step, counted: counts[step], rows: numberOf(step) });
  }
  const rows = stepStates.reduce((sum, step) => sum + numberOf(step), 0);
  const counted = stepStates.reduce((sum, step) => sum + counts[step], 0);
  if (rows !== taken || taken > size || (isEnded && counted !== size)) fail(key, { rows, taken, size, counted });
  const { pairs, pairsOpen, changedFirst, controlFirst, pairsBoth, pairsNeither, pairsVoid } = counts;
  const resolved = changedFirst + controlFirst + pairsBoth + pairsNeither + pairsVoid;
  if (pairs !== pairsOpen + resolved || pairsOpen < 0 || counts.healthy < 0 || counts.healthy > size) {
    fail(key, { pairs, pairsOpen, resolved, healthy: counts.healthy });
  }
}

function fail(of: string, numbers: object): never {
  throw new Error(`the counts of ${of} do not add up: ${JSON.stringify(numbers)}`);
}
