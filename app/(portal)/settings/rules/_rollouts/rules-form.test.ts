import { expect, test } from 'vitest';
import { formOf, type Rules, rulesOf } from './rules-form.ts';

const approval = { fromMembers: 50, people: 2, role: 'admin' as const };
const stored: Rules = {
  stepsPerSecond: 100,
  inFlight: 2_000,
  approval,
  availabilitySetTag: 'availability-set',
  freezes: [
    { from: '2026-12-24T17:00:00.000Z', to: '2026-12-27T06:00:00.000Z', reason: 'Holidays', exempt: ['some-rollout'] },
  ],
};

test('the form stores the rules that it shows', () => {
  expect(rulesOf(formOf(stored))).toEqual(stored);
  const automatic = { ...stored, approval: { ...approval, automatic: true } };
  expect(rulesOf(formOf(automatic))).toEqual(automatic);
  expect(rulesOf(formOf({ ...stored, approval: null, freezes: [] }))).toEqual({
    ...stored,
    approval: null,
    freezes: [],
  });
});

test('an empty number or time is sent as invalid, so that the portal names the field', () => {
  const form = formOf(stored);
  const sent = rulesOf({ ...form, inFlight: ' ', freezes: form.freezes.map((freeze) => ({ ...freeze, to: '' })) });
  expect(sent.inFlight).toBeNaN();
  expect(sent.freezes[0]?.to).toBe('');
});
