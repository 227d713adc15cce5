import { expect, test } from 'vitest';
import { pausesOf, standsStill, withoutPauses } from './pauses.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000);
const period = (from: number, to: number) => [at(from).toISOString(), at(to).toISOString()] as const;

/** Returns a seeded random number generator, so that failures can be reproduced. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Returns up to three periods that do not overlap, and the start of a current period after them, or null. */
function history(random: (below: number) => number) {
  const bounds = Array.from({ length: 2 * random(4) }, () => random(150)).toSorted((a, b) => a - b);
  const past = bounds.flatMap((from, n) => (n % 2 === 0 ? [[from, bounds[n + 1] ?? from] as const] : []));
  return { past, since: random(3) === 0 ? (bounds.at(-1) ?? 0) + random(60) : null };
}

test('MU-73 a deadline is when a clock that stops during holds and executions has run for the allowed time', () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = dice(seed);
    const [holds, lane] = [history(random), history(random)];
    const [start, seconds] = [random(150), random(80)];
    const covers = ({ past, since }: typeof holds, second: number) =>
      past.some(([from, to]) => from <= second && second < to) || (since !== null && second >= since);
    let [clock, left] = [start, seconds];
    for (; clock < 2_000; clock += 1) {
      const isPaused = covers(holds, clock) || covers(lane, clock);
      if (!isPaused && left === 0) break;
      if (!isPaused) left -= 1;
    }
    const pauses = pausesOf({
      heldAt: holds.since === null ? null : at(holds.since),
      pastHolds: holds.past.map(([from, to]) => period(from, to)),
      laneTakenAt: lane.since === null ? null : at(lane.since),
      laneTimes: lane.past.map(([from, to]) => period(from, to)),
    });
    const deadline = withoutPauses(at(start), seconds, pauses);
    const about = `seed ${seed}: ${JSON.stringify({ holds, lane, start, seconds })}`;
    if (clock === 2_000) expect(standsStill(deadline, pauses), about).toBe(true);
    else expect([deadline, standsStill(deadline, pauses)], about).toEqual([at(clock), false]);
  }
});

test('without holds and executions nothing is paused', () => {
  const pauses = pausesOf({ heldAt: null, pastHolds: null, laneTakenAt: null, laneTimes: [] });
  expect(pauses).toEqual({ since: null, past: [] });
});
