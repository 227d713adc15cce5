import type { SentRing, SentStrategy } from './definition.ts';

/** Returns the parts of a strategy without those that a run has no use for. */
export function withoutUnused({ rings, gates, silent, ...parts }: SentStrategy): SentStrategy {
  return {
    ...parts,
    rings: rings.map((ring) => (ring.gates === undefined ? ring : withoutCompare(ring, ring.gates))),
    gates: { ...gates, compare: null },
    silent: silent === 'declare' ? 'wait' : silent,
    onStepFailure: 'leave',
    onHalt: 'pause',
  };
}

const withoutCompare = (ring: SentRing, gates: NonNullable<SentRing['gates']>): SentRing => ({
  ...ring,
  gates: { ...gates, ...(gates.compare !== undefined && { compare: null }) },
});

/** Returns what a strategy means for a run: a step succeeds with code 0, so nothing is watched afterwards. */
export function forRuns(parts: SentStrategy): SentStrategy {
  const used = withoutUnused(parts);
  const rings = used.rings.map(({ gates, ...ring }) =>
    gates ? { ...ring, gates: { ...gates, soakSeconds: 0 } } : ring,
  );
  return { ...used, rings, gates: { ...used.gates, soakSeconds: 0 } };
}
