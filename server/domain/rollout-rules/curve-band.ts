/* What the test of control pairs (RO-25) does not rule out, for curves. Drawn, so floating point is exact enough. */

function logFactorial(n: number): number {
  let sum = 0;
  for (let factor = 2; factor <= n; factor += 1) sum += Math.log(factor);
  return sum;
}

/** The natural logarithm of the evidence at which the test halts: 10 times the number of rings that are compared. */
const logLimit = (rings: number): number => Math.log(10 * Math.max(1, rings));

/** Values that differ by less are equal. */
const epsilon = 1e-9;

/**
 * Returns how many times the changed VM must have failed first for the test to halt, if the unchanged one failed first
 * `controlFirst` times.
 */
export function haltsAt(controlFirst: number, rings: number): number {
  let changedFirst = controlFirst + 1;
  let pairs = changedFirst + controlFirst;
  let evidence =
    pairs * Math.LN2 + logFactorial(changedFirst) + logFactorial(controlFirst) - logFactorial(pairs + 1) + epsilon;
  while (evidence < logLimit(rings)) {
    changedFirst += 1;
    pairs += 1;
    evidence += Math.LN2 + Math.log(changedFirst) - Math.log(pairs + 1);
  }
  return changedFirst;
}

/**
 * Returns the confidence band of the share of pairs, among those of which one VM failed first, in which it is the
 * changed one. With X changed-first and C control-first pairs, H = X + C, and R compared rings, the band has every share
 * p with X! C! ÷ ((H + 1)! pˣ (1 − p)ᶜ) < 10 R. It holds at every look, and its low end exceeds one half exactly if the
 * test finds changed VMs significantly worse.
 */
export function shareBand(changedFirst: number, controlFirst: number, rings: number): { low: number; high: number } {
  const pairs = changedFirst + controlFirst;
  const bound =
    logFactorial(changedFirst) + logFactorial(controlFirst) - logFactorial(pairs + 1) - logLimit(rings) - epsilon;
  const isInside = (share: number): boolean => {
    const ofChanged = changedFirst === 0 ? 0 : changedFirst * Math.log(share);
    const ofControl = controlFirst === 0 ? 0 : controlFirst * Math.log(1 - share);
    return ofChanged + ofControl > bound;
  };
  const likeliest = pairs === 0 ? 0.5 : changedFirst / pairs;
  return {
    low: changedFirst === 0 ? 0 : edge(isInside, likeliest, 0),
    high: controlFirst === 0 ? 1 : edge(isInside, likeliest, 1),
  };
}

/** Returns the last value inside, between one that is inside and one that is not. */
function edge(isInside: (share: number) => boolean, inside: number, outside: number): number {
  let [last, first] = [inside, outside];
  for (let step = 0; step < 40; step += 1) {
    const middle = (last + first) / 2;
    if (isInside(middle)) last = middle;
    else first = middle;
  }
  return last;
}
