import type { GateName } from '#server/domain/rollout-rules/words.ts';
import { hasEnded, type ShownRollout } from '../rollout-data.ts';

/** An act on a rollout, and the ring that it is about. */
export type ShownAct =
  | { name: PlainAct; ring?: undefined }
  | { name: 'advance' | 'revertRing' | 'approveRing' | 'rejectRing'; ring: number };
type PlainAct =
  | 'plan'
  | 'start'
  | 'approve'
  | 'reject'
  | 'unschedule'
  | 'pause'
  | 'resume'
  | 'abort'
  | 'close'
  | 'revert'
  | 'revertFailed'
  | 'retryFailed'
  | 'retryUnreached'
  | 'retrySkipped'
  | 'delete';

export interface ShownActs {
  /** Buttons, the likeliest first. */
  first: ShownAct[];
  /** Entries of the menu. */
  more: ShownAct[];
}

/** Returns the acts that a rollout's state allows. */
export function actsOf(rollout: ShownRollout): ShownActs {
  const { state } = rollout;
  if (state === 'draft') return { first: [{ name: 'plan' }], more: [{ name: 'delete' }] };
  if (state === 'planning') return { first: [], more: [{ name: 'delete' }] };
  if (state === 'planned') return ofPlanned(rollout);
  if (state === 'checking') return { first: [], more: [] };
  return ofStarted(rollout);
}

const planAgain = ['plan_moved_on', 'plan_failed', 'plan_empty'];

function ofPlanned({ mayApprove, approvalsNeeded, why, counts, definition }: ShownRollout): ShownActs {
  const isRejected = why.some(({ code }) => code === 'plan_rejected');
  const hasMoved = isRejected || why.some(({ code }) => planAgain.includes(code));
  const hasMembers = counts.members > 0 || definition.newcomers === 'include';
  const decide: ShownAct[] = mayApprove && !isRejected ? [{ name: 'approve' }, { name: 'reject' }] : [];
  const start: ShownAct[] = !isRejected && approvalsNeeded === 0 && hasMembers ? [{ name: 'start' }] : [];
  const again: ShownAct = { name: 'plan' };
  return {
    first: hasMoved ? [again, ...start, ...decide] : [...decide, ...start],
    more: hasMoved ? [{ name: 'delete' }] : [again, { name: 'delete' }],
  };
}

function ofStarted(rollout: ShownRollout): ShownActs {
  const { state } = rollout;
  const reverts = revertsOf(rollout);
  const retries = retriesOf(rollout);
  const abort: ShownAct = { name: 'abort' };
  if (state === 'scheduled') return { first: [{ name: 'unschedule' }, abort], more: [] };
  if (state === 'running') {
    return { first: [...ringDecisions(rollout), { name: 'pause' }], more: [...advanceOf(rollout), abort, ...reverts] };
  }
  if (state === 'paused') {
    const decide = rollout.mayApprove && rollout.approvalsNeeded > 0 ? ([{ name: 'approve' }] as const) : [];
    const [likeliest, ...others] = reverts;
    return {
      first: [...(likeliest === undefined ? [] : [likeliest]), ...decide, { name: 'resume' }, abort],
      more: [...ringDecisions(rollout), ...others, ...retries],
    };
  }
  if (state === 'keeping')
    return { first: [{ name: 'close' }, { name: 'pause' }], more: [abort, ...reverts, ...retries] };
  const isOver = hasEnded(rollout);
  const isReverted = rollout.revertedBy !== null;
  return {
    first: isOver && !isReverted ? reverts.slice(0, 1) : [],
    more: [...reverts.slice(isReverted ? 0 : 1), ...retries],
  };
}

/** Whether a rollout has changed VMs and can be reverted. A run and a revert cannot. */
export function canRevert({ counts, kind, change }: Pick<ShownRollout, 'counts' | 'kind' | 'change'>): boolean {
  const changed = counts.succeeded + counts.failed + counts.reverted + counts.inFlight + counts.soaking;
  return changed > 0 && kind !== 'revert' && change.kind !== 'run';
}

/** A halted ring is the likeliest to be reverted, then everything, then only what failed. */
function revertsOf(rollout: ShownRollout): ShownAct[] {
  if (!canRevert(rollout)) return [];
  const { rings, counts } = rollout;
  const touched = rings.flatMap(({ state, counts: own }, ring) =>
    own.succeeded + own.failed + own.inFlight + own.soaking > 0 ? [{ ring, isHalted: state === 'halted' }] : [],
  );
  const byRing = touched
    .toSorted((a, b) => Number(b.isHalted) - Number(a.isHalted))
    .map(({ ring }): ShownAct => ({ name: 'revertRing', ring }));
  const all: ShownAct = { name: 'revert' };
  const failed: ShownAct[] = counts.failed > 0 ? [{ name: 'revertFailed' }] : [];
  if (rings.length === 1) return [all, ...failed];
  return touched.some(({ isHalted }) => isHalted) ? [...byRing, all, ...failed] : [all, ...failed, ...byRing];
}

const retriesOf = ({ counts: { failed, unreached, skipped } }: ShownRollout): ShownAct[] => [
  ...(failed > 0 ? [{ name: 'retryFailed' } as const] : []),
  ...(unreached > 0 ? [{ name: 'retryUnreached' } as const] : []),
  ...(skipped > 0 ? [{ name: 'retrySkipped' } as const] : []),
];

function advanceOf({ rings }: ShownRollout): ShownAct[] {
  const ring = rings.findIndex(({ state }) => state === 'waiting');
  const isApproved = rings[ring]?.approval !== true || rings[ring]?.approvedBy !== null;
  return ring > 0 && isApproved ? [{ name: 'advance', ring }] : [];
}

function ringDecisions({ rings, mayApprove }: ShownRollout): ShownAct[] {
  const ring = rings.findIndex(
    ({ state, approval, approvedBy }) => state === 'waiting' && approval && approvedBy === null,
  );
  return mayApprove && ring >= 0
    ? [
        { name: 'approveRing', ring },
        { name: 'rejectRing', ring },
      ]
    : [];
}

/** A verdict that halted a rollout. A resume must overrule it by name. */
export interface Halt {
  ring: number;
  gate: GateName;
}

/** Returns the verdicts that halted a rollout. */
export const haltsOf = ({ rings }: Pick<ShownRollout, 'rings'>): Halt[] =>
  rings.flatMap(({ verdicts }, ring) =>
    verdicts.filter(({ verdict }) => verdict === 'halt').map(({ gate }) => ({ ring, gate })),
  );
