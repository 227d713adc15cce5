import { expect, test } from 'vitest';
import german from '#locales/de/rollouts.json' with { type: 'json' };
import english from '#locales/en/rollouts.json' with { type: 'json' };
import {
  failCauses,
  gateNames,
  gateVerdicts,
  memberCounts,
  parkedCauses,
  ringStates,
  rolloutKinds,
  rolloutStates,
  skipCauses,
  stepStates,
  stoppingReasons,
  waitingReasons,
} from '#server/domain/rollout-rules/words.ts';
import { reasonKey } from './reason-key.ts';

const languages = { english, german } as unknown as Record<string, Readonly<Record<string, string>>>;

const keys = [
  ...waitingReasons.map((code) => `reason.${code}`),
  ...stoppingReasons.map((code) => `reason.${code}`),
  ...rolloutStates.flatMap((state) => (state === 'paused' ? [`state.${state}`] : [`state.${state}`, `says.${state}`])),
  ...rolloutKinds.map((kind) => `kind.${kind}`),
  ...ringStates.map((state) => `ringState.${state}`),
  ...[...stepStates, ...memberCounts].map((state) => `step.${state}`),
  ...[...parkedCauses, ...skipCauses, ...failCauses].map((cause) => `cause.${cause}`),
  ...gateNames.map((gate) => `gate.${gate}`),
  ...gateVerdicts.map((verdict) => `gate.verdict.${verdict}`),
];

test.each(Object.entries(languages))('every reason and state has a sentence in %s', (_, texts) => {
  const missing = keys.filter((key) => !texts[key] && !texts[`${key}_other`]);
  expect(missing).toEqual([]);
});

/** The numbers of a reason, as the rules give them, that its sentence must show. */
const numbers: Readonly<Record<string, readonly string[]>> = {
  errors_count: ['failed', 'decided', 'limit', 'ring'],
  errors_percent: ['failed', 'decided', 'limit', 'ring'],
  success_unreachable: ['failed', 'members', 'percent', 'ring'],
  worse_than_control: ['changedFirst', 'controlFirst', 'pairs', 'ring'],
  pairs_too_few: ['pairs', 'needed', 'ring'],
  pairs_too_few_paused: ['pairs', 'needed', 'ring'],
  in_flight_full: ['count', 'limit'],
  ramp: ['count', 'limit'],
  sets_busy: ['count', 'ring'],
  vms_busy: ['count', 'ring'],
  vms_parked: ['count'],
  nobody_reached: ['count', 'ring'],
  steps_open: ['count'],
  version_withdrawn: ['handler', 'version'],
  freeze: ['reason', 'at'],
  ring_opens: ['ring', 'at'],
  ring_bake: ['ring', 'at'],
  window_closed: ['ring', 'at'],
  start_at: ['at'],
  person: ['by'],
  plan_rejected: ['by', 'reason'],
};

test.each(Object.entries(languages))('the sentences of reasons show their numbers in %s', (_, texts) => {
  for (const [code, names] of Object.entries(numbers)) {
    const text = texts[`reason.${code}`] ?? texts[`reason.${code}_other`] ?? '';
    for (const name of names) expect(text, code).toContain(`{{${name}}}`);
  }
});

test('an outdated plan says what changed', () => {
  expect(reasonKey({ code: 'plan_moved_on', params: { cause: 'members', moved: 3 } })).toBe('plan_moved_on.members');
  expect(reasonKey({ code: 'plan_moved_on', params: { cause: 'restored', moved: 3 } })).toBe('plan_moved_on.restored');
  expect(reasonKey({ code: 'plan_moved_on', params: { cause: 'definition' } })).toBe('plan_moved_on');
});

test('a plan without members says whether no VM matches, none can be changed or none needs the change', () => {
  const keyOf = (matched: number, refused: number) => reasonKey({ code: 'plan_empty', params: { matched, refused } });
  expect([keyOf(0, 0), keyOf(5, 2), keyOf(5, 0)]).toEqual([
    ...['plan_empty.unmatched', 'plan_empty.refused', 'plan_empty'],
  ]);
  for (const texts of Object.values(languages)) {
    for (const key of [keyOf(0, 0), keyOf(5, 2), keyOf(5, 0)]) expect(texts[`reason.${key}`]).toBeTruthy();
  }
});

test('a window that never opens again is not given a time', () => {
  expect(reasonKey({ code: 'window_closed' })).toBe('window_closed.never');
});
