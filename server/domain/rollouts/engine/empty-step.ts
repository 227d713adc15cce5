import type { Turn } from './load-members.ts';
import { notBegun } from './not-begun.ts';
import type { Pass, StepRow } from './pass.ts';

/** A member whose step begins now. */
export interface Beginner {
  turn: Turn;
  ring: number;
  /** The VM's disruption group; null if it is in none. */
  group: string | null;
  /** Whether the step is open in the rollout that this one reverts. */
  isTakenOver: boolean;
  wasHealthy: boolean;
}

/** Returns a member's row without a step that began. */
export function emptyStep({ row, ctx }: Pass, turn: Turn, ring: number): StepRow {
  return {
    vmId: turn.vmId,
    rolloutId: row.id,
    ring,
    place: turn.place,
    kind: turn.kind,
    state: 'parked',
    ...{ cause: null, failure: null },
    movedTo: null,
    ...notBegun,
    beforeIncarnation: null,
    wasHealthy: false,
    ...{ decidedAt: null, dueAt: null, overtakenBy: null },
    ...{ pairVmId: null, pairResult: null, pairChangedFailedAt: null, pairControlFailedAt: null, pairDueAt: null },
    updatedAt: ctx.now,
  };
}
