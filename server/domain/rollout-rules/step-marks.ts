import type { MemberCount } from './words.ts';

/** How the fleet map marks a VM in a rollout, what needs attention first; `none` if it is not a member. */
export const stepMarks = [
  'failed',
  'reverted',
  'inFlight',
  'soaking',
  'parked',
  'queued',
  'succeeded',
  'exempt',
  'none',
] as const;
export type StepMark = (typeof stepMarks)[number];

/** One letter for each mark, in the same order. */
export const stepMarkLetters = 'frispqhxn';

/** The counts that each mark includes. */
export const countsOfMark: Readonly<Record<StepMark, readonly MemberCount[]>> = {
  failed: ['failed'],
  reverted: ['reverted'],
  inFlight: ['inFlight'],
  soaking: ['soaking'],
  parked: ['parked'],
  queued: ['queued'],
  succeeded: ['succeeded'],
  exempt: ['overtaken', 'skipped', 'gone', 'unreached'],
  none: [],
};

/** Returns the mark of a member, as its position in `stepMarks`. */
export const markOf = (count: MemberCount): number =>
  stepMarks.findIndex((mark) => countsOfMark[mark].some((other) => other === count));
