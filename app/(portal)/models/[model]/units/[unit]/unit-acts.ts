import type { ShownFailure } from '../unit-data.ts';

/** An act on a unit that a dialog prepares. */
export type UnitAct =
  | { kind: 'skip'; failure: ShownFailure }
  | { kind: 'remove' }
  | { kind: 'enroll' }
  | { kind: 'connect' };
