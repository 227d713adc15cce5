import type { rolloutCurve, rollouts } from '#db/schema/index.ts';
import type { Definition, RingCounts, RingVerdict, RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import type { RingState, StepState } from '#server/domain/rollout-rules/words.ts';

type Point = Omit<typeof rolloutCurve.$inferInsert, 'rolloutId' | 'ring'>;

/** A ring of a rollout in pictures. Members without a step are queued. */
export interface PicturedRing {
  name: string;
  size: number;
  state: RingState;
  steps: Partial<Record<StepState, number>>;
  approval?: boolean;
  verdicts?: RingVerdict[];
  pairs?: Partial<RingCounts>;
  curve?: Point[];
}

/** A rollout in pictures. `state` names the picture. */
export interface PicturedRollout {
  state: string;
  name: string;
  now: number;
  rings: PicturedRing[];
  values: Partial<typeof rollouts.$inferInsert>;
  definition?: Partial<Definition>;
  change?: Partial<RolloutChange>;
  /** Whether its plan needs an approval. */
  needsApproval?: boolean;
}

/** The hash of each plan in pictures. */
export const planHash = 'b41c09ee6d2f';

const errors = (verdict: 'pass' | 'halt', failed: number, decided: number): RingVerdict => ({
  ...{ gate: 'errors', verdict, code: 'errors_percent', params: { failed, decided, limit: '5', atLeast: 20 } },
});
const success = (verdict: 'pass' | 'wait', succeeded: number, members: number): RingVerdict => ({
  ...{ gate: 'success', verdict, code: 'success_percent' },
  params: { succeeded, members, needed: Math.ceil(members * 0.95), failed: 0, percent: '95' },
});
const compare = (changedFirst: number, controlFirst: number, pairs: number): RingVerdict => ({
  ...{ gate: 'compare', verdict: 'pass', code: 'compare_enough' },
  params: { changedFirst, controlFirst, pairs, needed: 50 },
});

/** A curve that ends with five failed of 96, and 58 pairs of which the changed VM failed first in four. */
const curveUntil = (now: number): Point[] =>
  Array.from({ length: 48 }, (_, n) => ({
    at: new Date(now - (48 - n) * 75_000),
    ...{ decided: 2 * (n + 1), failed: Math.min(5, Math.floor(n / 9)), pairs: Math.round((58 * (n + 1)) / 48) },
    ...{ changedFirst: Math.min(4, Math.floor(n / 9)), controlFirst: n > 20 ? 1 : 0, both: n > 40 ? 1 : 0 },
  }));

const passed: PicturedRing = {
  ...{ name: 'canary', size: 42, state: 'passed', steps: { succeeded: 41, skipped: 1 } },
  verdicts: [errors('pass', 0, 41), success('pass', 41, 41)],
};
const waiting: PicturedRing = { name: 'all', size: 1_789, state: 'waiting', steps: {}, approval: true };
const tenth = (now: number, isHalted: boolean): PicturedRing => ({
  ...{ name: 'tenth', size: 379, state: isHalted ? 'halted' : 'open' },
  steps: isHalted
    ? { succeeded: 91, failed: 5, soaking: 31, parked: 11, skipped: 9, overtaken: 2, recalled: 6 }
    : { succeeded: 93, failed: 3, soaking: 31, inFlight: 18, parked: 11, skipped: 9, overtaken: 2 },
  verdicts: [
    isHalted ? errors('halt', 5, 96) : errors('pass', 3, 96),
    success('wait', isHalted ? 91 : 93, 357),
    compare(4, 1, 58),
  ],
  pairs: { pairs: 70, changedFirst: 4, controlFirst: 1, pairsBoth: 1, pairsNeither: 52, pairsOpen: 12 },
  curve: curveUntil(now),
});
const done = (name: string, size: number, failed = 0): PicturedRing => ({
  ...{ name, size, state: 'passed', steps: { succeeded: size - failed, failed } },
  verdicts: [errors('pass', failed, size), success('pass', size - failed, size)],
});
const untouched = (size: number): PicturedRing[] => [
  { name: 'first', size: Math.ceil(size / 100), state: 'waiting', steps: {} },
  { name: 'all', size: size - Math.ceil(size / 100), state: 'waiting', steps: {} },
];

/** Returns the rollouts of the pictures: one for each state, kind and extreme size. */
export function picturedRollouts(now: number): PicturedRollout[] {
  return [...moving(now), ...stopped(now), ...ended(now), ...runs(now), ...extremes(now)];
}

/** Authors who are not the person in the pictures, so that this person may approve. */
const others = { authors: { created: 'user:x', edited: null, planned: null } };
const rejection = (now: number) => ({
  ...{ ring: null, approved: false, actor: 'user:y', by: 'Mei Tanaka', at: ago(now, 42).toISOString() },
  ...{ planHash, note: 'Not before the holidays.' },
});

const ago = (now: number, minutes: number) => new Date(now - minutes * 60_000);

function moving(now: number): PicturedRollout[] {
  const unstarted = { startedAt: null, startedBy: null };
  const next = { code: 'ring_opens', ring: 2, at: ago(now, -90).toISOString() };
  return [
    {
      ...{ state: 'scheduled', name: 'Mount 2.0, tonight', now, rings: untouched(240) },
      values: {
        state: 'scheduled',
        startAt: ago(now, -600),
        next: { code: 'start_at', at: ago(now, -600).toISOString() },
      },
    },
    {
      ...{ state: 'moving', name: 'Mount 2.0 in production', now, rings: [passed, tenth(now, false), waiting] },
      values: {
        state: 'running',
        next,
        why: [{ code: 'in_flight_full', ring: 1, params: { inFlight: 18, limit: 18 } }],
      },
    },
    {
      ...{ state: 'baking', name: 'Mount 2.0 in the laboratory', now },
      rings: [passed, { ...done('half', 60), state: 'baking' }, { ...waiting, approval: false, size: 61 }],
      values: { state: 'running', why: [{ code: 'ring_bake', ring: 1, at: ago(now, -18).toISOString() }], next },
    },
    {
      ...{ state: 'keeping', name: 'Mount 2.0, all but the silent ones', now },
      rings: [passed, { ...done('all', 120, 2), steps: { succeeded: 107, failed: 2, parked: 11 } }],
      values: { state: 'keeping', why: [{ code: 'vms_parked', params: { parked: 11 } }] },
    },
    {
      ...{ state: 'ring-approval', name: 'Mount 2.0 in the shops', now, rings: [passed, waiting] },
      values: { ...others, state: 'running', why: [{ code: 'ring_approval', ring: 1 }] },
    },
    {
      ...{ state: 'approval', name: 'Mount 2.0 for everybody', now, rings: untouched(4_210), needsApproval: true },
      values: { ...others, ...unstarted, state: 'planned' },
    },
    {
      ...{
        state: 'rejected',
        name: 'Mount 2.0 before the holidays',
        now,
        rings: untouched(4_210),
        needsApproval: true,
      },
      values: { ...others, ...unstarted, state: 'planned', approvals: [rejection(now)] },
    },
    {
      ...{ state: 'plan-failed', name: 'Mount 2.0 in the archive', now, rings: [] },
      values: { ...others, ...unstarted, state: 'draft', why: [{ code: 'plan_failed', params: { cause: 'timeout' } }] },
    },
    {
      ...{ state: 'moved', name: 'Mount 2.0, planned yesterday', now, rings: untouched(240) },
      values: {
        ...{ ...unstarted, state: 'planned' },
        why: [{ code: 'plan_moved_on', params: { moved: 14, allowed: 2, kinds: 'update>settings:11,update>:3' } }],
      },
    },
    { state: 'nothing', name: 'Mount 2.0 where it is', now, rings: [], values: { ...unstarted, state: 'planned' } },
  ];
}

function stopped(now: number): PicturedRollout[] {
  const params = { failed: 5, decided: 96, limit: '5' };
  const halt = { code: 'errors_percent', ring: 1, params, since: ago(now, 4).toISOString() };
  const why = [
    { code: 'person', params: { by: 'Ada Brandt', reason: 'The file server restarts.' }, since: halt.since },
  ];
  return [
    {
      ...{ state: 'halted', name: 'Mount 2.0 with the new password', now, rings: [passed, tenth(now, true), waiting] },
      values: { state: 'paused', pausedBy: 'gate', why: [halt] },
    },
    {
      ...{ state: 'stopped', name: 'Mount 2.0 in the offices', now, rings: [passed, tenth(now, false), waiting] },
      values: { state: 'paused', pausedBy: 'person', why },
    },
    {
      ...{ state: 'aborting', name: 'Mount 2.0 in the branches', now, rings: [passed, tenth(now, false), waiting] },
      values: { state: 'aborting' },
    },
  ];
}

function ended(now: number): PicturedRollout[] {
  const endedAt = ago(now, 30);
  const unreached: PicturedRing = {
    ...{ name: 'all', size: 300, state: 'open', steps: { succeeded: 61, failed: 9, reverted: 3, unreached: 227 } },
    verdicts: [errors('pass', 12, 73)],
  };
  return [
    {
      ...{ state: 'finished', name: 'Mount 1.4 in production', now },
      rings: [
        passed,
        {
          ...tenth(now, false),
          ...done('tenth', 379, 6),
          verdicts: [...(done('tenth', 379, 6).verdicts ?? []), compare(4, 1, 58)],
        },
        done('all', 600, 3),
      ],
      values: { state: 'finished', endedAt },
    },
    {
      ...{ state: 'aborted', name: 'Mount 1.5 in production', now, rings: [passed, unreached] },
      values: { state: 'aborted', endedAt },
    },
    {
      ...{ state: 'reverted', name: 'Mount 1.6 in production', now, rings: [passed, unreached] },
      values: { state: 'aborted', endedAt },
    },
    {
      ...{ state: 'revert-done', name: 'Revert: Mount 1.6 in production', now, rings: [done('all', 111, 2)] },
      values: { state: 'finished', kind: 'revert', endedAt },
      change: { ...nothing, kind: 'revert', handler: null },
    },
    {
      ...{ state: 'revert', name: 'Revert: Mount 1.5 in production', now },
      rings: [{ ...done('all', 64), state: 'open', steps: { succeeded: 40, inFlight: 12 } }],
      values: { state: 'running', kind: 'revert' },
      change: { ...nothing, kind: 'revert', handler: null },
    },
    {
      ...{ state: 'automatic', name: 'Northwind.Storage.Mount 2.1.0.0', now },
      rings: [
        done('first', 9),
        { ...done('fifth', 180), state: 'open', steps: { succeeded: 60, soaking: 20, inFlight: 9 } },
        { ...waiting, approval: false },
      ],
      values: { state: 'running', kind: 'automatic', createdBy: 'Annex', startedBy: 'Annex' },
      change: { ...nothing, version: '2.1.0.0' },
    },
    {
      ...{ state: 'bulk', name: 'Disable Mount', now, rings: [{ ...done('all', 130, 2), verdicts: [] }] },
      values: { state: 'finished', kind: 'bulk', endedAt },
    },
  ];
}

/** A change without settings, to which a version or a runbook is added. */
const nothing: Partial<RolloutChange> = { publicSettings: null, protectedSettings: null };

function runs(now: number): PicturedRollout[] {
  const run = { runbook: 'greet', parameters: { name: 'Ada' }, secretParameters: [] };
  const change: Partial<RolloutChange> = {
    ...{ ...nothing, kind: 'run', handler: null, version: '1.0.0' },
    run: { ...run, timeoutSeconds: 900, validForSeconds: 86_400 },
  };
  const halted: PicturedRing = {
    ...{ name: 'all', size: 240, state: 'halted', steps: { succeeded: 61, failed: 6, inFlight: 9, parked: 7 } },
    verdicts: [errors('halt', 6, 67), success('wait', 61, 233)],
  };
  const params = { failed: 6, decided: 67, limit: '5' };
  return [
    {
      ...{ state: 'run-halted', name: 'Greet the branches', now, rings: [done('first', 12), halted], change },
      values: {
        ...{ state: 'paused', pausedBy: 'gate', handler: null },
        why: [{ code: 'errors_percent', ring: 1, params, since: ago(now, 4).toISOString() }],
      },
    },
    {
      ...{ state: 'run-finished', name: 'Greet the offices', now, rings: [done('all', 64, 1)], change },
      values: { state: 'finished', handler: null, endedAt: ago(now, 30) },
    },
  ];
}

function extremes(now: number): PicturedRollout[] {
  const long = 'a ring with a name of forty characters..';
  const rings = Array.from(
    { length: 20 },
    (_, n): PicturedRing =>
      n < 6
        ? done(n === 3 ? long : `ring ${n + 1}`, 12)
        : n === 6
          ? { ...done(`ring 7`, 12), state: 'open', steps: { succeeded: 5, inFlight: 4 } }
          : { name: `ring ${n + 1}`, size: 12, state: 'waiting', steps: {} },
  );
  const large: PicturedRing[] = [
    { ...done('first', 1_000, 12) },
    { ...done('tenth', 9_000), state: 'open', steps: { succeeded: 1_500, failed: 20, soaking: 120, inFlight: 300 } },
    { name: 'half', size: 40_000, state: 'waiting', steps: {} },
    { name: 'all', size: 50_000, state: 'waiting', steps: {} },
  ];
  return [
    { state: 'rings', name: 'Mount 2.0 in twenty rings', now, rings, values: { state: 'running' } },
    { state: 'large', name: 'Mount 2.0 in all data centres', now, rings: large, values: { state: 'running' } },
  ];
}
