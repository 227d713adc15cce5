import { describe, expect, test } from 'vitest';
import { nodeDocument, runEnded, serviceSettings, skippedHooks, unitRun } from './unit-runs.ts';

const begin = {
  ...{ phase: 'begin', hook: 'db-relation-changed', relation: 3, remoteUnit: 'mysql/0', version: 12, attempt: 1 },
  ...{ formula: '1.2.0.0', timeoutSeconds: 300 },
};
const end = {
  ...{ phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1.804, output: '' },
  views: [{ relation: 3, unit: 'mysql/0', version: 12 }, { settings: 4 }],
  changes: [{ relation: 3, set: { user: '"wp"', pool: '12' }, remove: ['old'] }],
  ports: { open: ['80/tcp'], close: [] },
  reason: null,
};
const { changes: _, ports: __, ...unchanged } = end;

test.each<[string, object]>([
  ['that begins', begin],
  ['of the unit that begins', { ...begin, relation: undefined, remoteUnit: undefined, version: undefined }],
  ['that ends with 0', end],
  ['that fails', { ...unchanged, exitCode: 1, reason: { id: 'no_database', params: ['mysql/0'] } }],
  ['that is ended', { ...unchanged, exitCode: null, signal: 'SIGKILL', timedOut: true }],
])('a run %s is read', (_name, document) => {
  expect(unitRun.parse(JSON.parse(JSON.stringify(document)))).toEqual(JSON.parse(JSON.stringify(document)));
});

describe('EN-10 a run is rejected', () => {
  const change = { relation: 3, set: {}, remove: [] };
  test.each<[string, object]>([
    ['that failed and changes something', { ...end, exitCode: 1 }],
    ['that timed out and opens a port', { ...unchanged, timedOut: true, ports: end.ports }],
    ['that was ended by a signal and changes something', { ...end, signal: 'SIGTERM' }],
    ['that names a relation twice', { ...end, changes: [change, change] }],
    ['that sets and removes a key', { ...end, changes: [{ relation: 3, set: { a: '1' }, remove: ['a'] }] }],
    [
      'that changes more than 64 relations',
      { ...end, changes: Array.from({ length: 65 }, (_each, at) => ({ ...change, relation: at + 1 })) },
    ],
    ['with a value that is not a text', { ...end, changes: [{ relation: 3, set: { a: 1 }, remove: [] }] }],
    ['with a port that is none', { ...end, ports: { open: ['080/tcp'], close: [] } }],
    ['for a unit that is none', { ...begin, remoteUnit: '../x/1' }],
    ['without a time limit', { ...begin, timeoutSeconds: 0 }],
    ['in an unknown phase', { ...begin, phase: 'pause' }],
  ])('%s', (_name, document) => {
    expect(unitRun.safeParse(document).success).toBe(false);
  });
});

test('EN-42 settings keep keys such as __proto__, and properties of a newer portal are kept', () => {
  const text = '{"version":12,"settings":{"__proto__":"1e400","constructor":"\\"x\\""},"more":1}';
  expect(JSON.stringify(nodeDocument.parse(JSON.parse(text)))).toBe(text);
  expect(serviceSettings.parse({ version: 4, settings: {}, protectedSettings: 'AA==' })).toMatchObject({
    protectedSettings: 'AA==',
  });
});

test('hooks without a file are reported together', () => {
  const one = { hook: 'db-relation-joined', relation: 3, remoteUnit: 'mysql/0', version: 12 };
  expect(skippedHooks.safeParse({ skipped: [one, { hook: 'install' }] }).success).toBe(true);
  expect(skippedHooks.safeParse({ skipped: Array.from({ length: 501 }, () => one) }).success).toBe(false);
});

test('the response lists the relations whose changes were not stored', () => {
  const answer = { outcome: 'stored', versions: { 3: 5 }, dropped: [4] };
  expect(runEnded.parse(answer)).toEqual(answer);
});
