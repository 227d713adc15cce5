import { expect, test } from 'vitest';
import { isCorrected, type PlanSubject } from './corrected.ts';

const goal: PlanSubject['goal'] = {
  handler: 'Acme.Lab.Probe',
  version: '1.0.0.0',
  state: 'enabled',
  dependsOn: ['third'],
  timeouts: { enable: 0 },
  settings: { publicSettings: { port: 2, hosts: ['', 'b'] } },
};
const before: PlanSubject = { name: 'probe', goal, changes: { set: { password: 'abc' }, remove: [] } };
const withGoal = (change: Partial<PlanSubject['goal']>): PlanSubject => ({ ...before, goal: { ...goal, ...change } });
const withSettings = (publicSettings: Record<string, unknown>) => withGoal({ settings: { publicSettings } });

test.each<[string, PlanSubject, boolean]>([
  ['/settings/publicSettings/port', before, false],
  ['/settings/publicSettings/port', withSettings({ port: 20, hosts: ['', 'b'] }), true],
  ['/settings/publicSettings/port', withSettings({ port: 2, hosts: ['a', 'b'] }), false],
  ['/settings/publicSettings/hosts/0', withSettings({ port: 2, hosts: ['a', 'b'] }), true],
  ['/settings/publicSettings/server', withSettings({ port: 2, hosts: ['', 'b'], server: 'x' }), true],
  ['/settings/protectedSettings/password', { ...before, changes: { set: { password: 'abcd' } } }, true],
  ['/settings/protectedSettings/password', { ...before, changes: { set: { password: 'abc', keytab: 'x' } } }, false],
  ['/settings/protectedSettings/keytab', { ...before, changes: { ...before.changes, remove: ['keytab'] } }, true],
  ['/settings/protectedSettings', { ...before, changes: { set: {} } }, true],
  ['/dependsOn', withGoal({ dependsOn: [] }), true],
  ['/timeouts/enable', withGoal({ timeouts: { enable: 9 } }), true],
  ['/version', withGoal({ state: 'disabled' }), false],
  ['/name', { ...before, name: 'other' }, true],
  ['/siblings/other/version', withGoal({ version: '2.0.0.0' }), false],
])('the error at %s is hidden if its own value changed (case %#)', (path, now, corrected) => {
  expect(isCorrected(path, before, now)).toBe(corrected);
});
