import { expect, test } from 'vitest';
import { fillPlan } from './fill-plan.ts';

const given = { id: 'id-1', stamp: 17_952_189_823_586 };

test.each<[what: string, plan: string, filled: string]>([
  [
    'after FormatVersion and Action',
    '{"FormatVersion":"2.0.0","Action":"Execute","Name":"a"}',
    '{"FormatVersion":"2.0.0","Action":"Execute","ID":"id-1","Stamp":17952189823586,"Name":"a"}',
  ],
  [
    'without an action',
    '{"Body":"x","FormatVersion":"2.0.0"}',
    '{"Body":"x","FormatVersion":"2.0.0","ID":"id-1","Stamp":17952189823586}',
  ],
  [
    'in place of what the plan had',
    '{"ID":"mine","Stamp":1,"FormatVersion":"2.0.0"}',
    '{"FormatVersion":"2.0.0","ID":"id-1","Stamp":17952189823586}',
  ],
  ['in a plan of the format vCurrent, the stamp only', '{"Commands":[]}', '{"Commands":[],"Stamp":17952189823586}'],
])('ID and stamp are filled in %s', (_, plan, filled) => {
  expect(fillPlan(plan, given)).toBe(filled);
});

test('digits and hostile names stay as they are', () => {
  const parameters = '{"a":1.0,"b":1e2,"c":-0,"__proto__":{"x":1},"d":0.10}';
  expect(fillPlan(`{"FormatVersion":"2.0.0","Parameters":${parameters}}`, given)).toContain(parameters);
});
