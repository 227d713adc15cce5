import { expect, test } from 'vitest';
import { firstTerms } from '#app/(portal)/vms/[vmId]/executions/new/terms.ts';
import { faultsBelow, faultsOfDraft, faultsOfScript, ownFaults } from './draft-faults.ts';

const draft = {
  ...{ title: 'Greet', description: '', version: '1.0.0', plan: '{}', schema: '', terms: firstTerms, typed: {} },
};
const fault = (path: string, message = 'wrong') => ({ path, code: 'field_invalid', message });

test('a draft that can be sent has no faults', () => {
  expect(ownFaults(draft, true)).toEqual([]);
});

test('a text that is not valid yet is a fault, so it cannot be saved away silently', () => {
  const typed = {
    '/Scripts/hello/Options': '{',
    '/Scripts/hello/Options/timeout': 'x',
    '/Scripts/hello/Options/environment': '[]',
  };
  expect(ownFaults({ ...draft, typed, schema: '{' }, false)).toEqual([
    { path: '/plan/Scripts/hello/Options', code: 'options' },
    { path: '/plan/Scripts/hello/Options/timeout', code: 'optionTimeout' },
    { path: '/plan/Scripts/hello/Options/environment', code: 'variables' },
    { path: '/parameters', code: 'schema' },
  ]);
});

test('a missing title is a fault only after an attempt to save, a wrong version or time before it', () => {
  expect(ownFaults({ ...draft, title: ' ' }, false)).toEqual([]);
  expect(ownFaults({ ...draft, title: ' ' }, true)).toEqual([{ path: '/title', code: 'required' }]);
  expect(ownFaults({ ...draft, version: '1.x' }, false)).toEqual([{ path: '/version', code: 'version' }]);
  expect(ownFaults({ ...draft, terms: { ...firstTerms, time: '' } }, false)).toEqual([
    { path: '/timeoutSeconds', code: 'timeout' },
  ]);
});

test('the faults of all sources are in the order of the page, and each is named once', () => {
  const faults = faultsOfDraft({
    own: [fault('/title', 'required')],
    plan: [fault('/Name')],
    schema: [fault('/parameters/type')],
    rejected: [fault('/title', 'empty'), fault('/version'), fault('/plan/Name'), fault('/parameters/type', 'other')],
  });
  expect(faults.map(({ path, message }) => `${path} ${message}`)).toEqual([
    '/title required',
    '/version wrong',
    '/plan/Name wrong',
    '/parameters/type wrong',
    '/parameters/type other',
  ]);
  expect(faultsBelow(faults, '/plan')).toEqual([fault('/Name')]);
});

test('the faults of a script are those of the script and of its files', () => {
  const script = { name: 'a/b', files: [{ id: 'f1', name: 'a.sh', text: '' }] };
  const ours = ['/Scripts/a~1b', '/Scripts/a~1b/Options/timeout', '/Files/f1/Body'];
  const others = ['/Body', '/Scripts/a', '/Files/f10/Body'];
  const faults = [...others, ...ours].map((path) => fault(path));
  expect(faultsOfScript(faults, script).map(({ path }) => path)).toEqual(ours);
});
