import { movableRuns } from '#server/domain/rollout-rules/rings.ts';
import type { Definition, Gates, Limit, RingDefinition } from '#server/domain/rollout-rules/stored.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';

/** What an edit of a started rollout does. Paths are JSON pointers into the definition. */
export interface RolloutEdit {
  /** The parts that changed. */
  changed: string[];
  /** The changed parts that cannot change now. */
  fixed: string[];
  /** Whether boundaries between rings move, so that members are in other rings. */
  movesMembers: boolean;
  /** Whether the edit makes the rollout less careful than the approved plan, so that approvals are needed again. */
  needsApproval: boolean;
}

/** The state that decides what can change: whether the rollout is paused, and which rings have opened. */
export interface EditState {
  isPaused: boolean;
  opened: readonly boolean[];
}

/** When a part can change after the start: at any time, while the rollout is paused, or never. */
type Freedom = 'always' | 'paused' | 'never';

const sameJson = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

/** Judges an edit of a rollout that has started (RO-34). */
export function judgeEdit(before: Definition, after: Definition, { isPaused, opened }: EditState): RolloutEdit {
  const parts = [...definitionParts(before, after), ...ringParts(before.rings, after.rings, opened)];
  const changed = parts.filter(({ isSame }) => !isSame);
  const isFixed = ({ freedom }: Part) => freedom === 'never' || (freedom === 'paused' && !isPaused);
  return {
    changed: changed.map(({ path }) => path),
    fixed: changed.filter(isFixed).map(({ path }) => path),
    movesMembers: changed.some(({ path }) => path.endsWith('/upTo')),
    needsApproval: changed.some(({ freedom }) => freedom === 'paused'),
  };
}

interface Part {
  path: string;
  isSame: boolean;
  freedom: Freedom;
}

function definitionParts(before: Definition, after: Definition): Part[] {
  const part = (name: keyof Definition, path: string, freedom: Freedom): Part => ({
    path,
    isSame: sameJson(before[name], after[name]),
    freedom,
  });
  const isSlower = isLowerNumber(before.stepsPerSecond, after.stepsPerSecond);
  return [
    part('select', '/select', 'never'),
    part('change', '/change', 'never'),
    part('strategy', '/strategy', 'never'),
    part('startAt', '/startAt', 'never'),
    part('newcomers', '/newcomers', 'never'),
    part('maxMovedShare', '/maxMovedPercent', 'never'),
    part('availabilitySets', '/availabilitySets', 'paused'),
    part('silent', '/silent', 'paused'),
    part('onStepFailure', '/onStepFailure', 'paused'),
    part('onHalt', '/onHalt', 'paused'),
    part('retry', '/retry', 'paused'),
    part('keepDays', '/keepDays', 'paused'),
    part('noProgressSeconds', '/gates/noProgressSeconds', 'paused'),
    part('windows', '/windows', 'always'),
    part('stepsPerSecond', '/stepsPerSecond', isSlower ? 'always' : 'paused'),
  ];
}

/** Whether a limit became lower; null means no limit. */
const isLowerNumber = (before: number | null, after: number | null): boolean =>
  after !== null && (before === null || after < before);

function ringParts(
  before: readonly RingDefinition[],
  after: readonly RingDefinition[],
  opened: readonly boolean[],
): Part[] {
  if (before.length !== after.length) return [{ path: '/rings', isSame: false, freedom: 'never' }];
  const movable = new Set(movableRuns(before, opened).flatMap((run) => run.slice(0, -1)));
  return before.flatMap((ring, index) => {
    const other = after[index] ?? ring;
    const path = `/rings/${index}`;
    const part = (name: keyof RingDefinition, freedom: Freedom): Part => ({
      path: `${path}/${name}`,
      isSame: sameJson(ring[name], other[name]),
      freedom,
    });
    // A ring that has opened no longer waits for an approval, and one that was approved as careful stays so.
    const isAsked = opened[index] !== true && other.approval;
    return [
      part('name', 'always'),
      part('filter', 'never'),
      part('upTo', movable.has(index) ? 'paused' : 'never'),
      part('approval', isAsked ? 'always' : 'paused'),
      part('windows', 'always'),
      ...gateParts(`${path}/gates`, ring.gates, other.gates),
    ];
  });
}

function gateParts(path: string, before: Gates, after: Gates): Part[] {
  const { inFlight, ...gates } = before;
  const { inFlight: otherInFlight, ...otherGates } = after;
  return [
    {
      path: `${path}/inFlight`,
      isSame: sameJson(inFlight, otherInFlight),
      freedom: isLowerLimit(inFlight, otherInFlight) ? 'always' : 'paused',
    },
    { path, isSame: sameJson(gates, otherGates), freedom: 'paused' },
  ];
}

/** Whether a limit became lower. A share and a number cannot be compared. */
function isLowerLimit(before: Limit, after: Limit): boolean {
  if ('count' in before) return 'count' in after && after.count < before.count;
  return 'share' in after && after.share < before.share;
}
