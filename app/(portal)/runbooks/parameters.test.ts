import { expect, test } from 'vitest';
import { parametersOf, presetsOf } from './parameters.ts';
import type { ShownRunbookVersion } from './runbook-data.ts';

const version = (given: Partial<ShownRunbookVersion>): ShownRunbookVersion => ({
  ...{ runbook: 'greet', version: '1.0.0', state: 'published', title: 'Greet', description: '' },
  ...{ parameters: null, secretParameters: [], timeoutSeconds: 60, validForSeconds: 60, sha256: '', plan: null },
  ...{ savedAt: '', savedBy: '', publishedAt: null, publishedBy: null, withdrawnAt: null, withdrawnReason: null },
  ...given,
});

const parameters = {
  type: 'object',
  properties: {
    who: { type: 'string', title: 'Whom to greet' },
    size: { enum: ['s', 'm', 'l'], default: 'm' },
    token: { type: 'string', writeOnly: true, default: 'x' },
  },
  required: ['who'],
};

test('each parameter has its title, type, choices, default and marks, in the order of the schema', () => {
  const plan = JSON.stringify({ Parameters: { who: 'Ada' } });
  expect(parametersOf(version({ parameters, secretParameters: ['token'], plan }))).toEqual([
    {
      ...{ name: 'who', title: 'Whom to greet', type: 'string', choices: 0, preset: '"Ada"' },
      isRequired: true,
      isSecret: false,
    },
    { ...{ name: 'size', title: null, type: 'string', choices: 3, preset: '"m"' }, isRequired: false, isSecret: false },
    { ...{ name: 'token', title: null, type: 'string', choices: 0, preset: null }, isRequired: false, isSecret: true },
  ]);
});

test('the plan’s own parameters take precedence over the defaults, and a secret parameter has no preset', () => {
  const plan = JSON.stringify({ Parameters: { size: 'l', token: 'y' } });
  expect(presetsOf(version({ parameters, secretParameters: ['token'], plan }))).toEqual({ size: 'l' });
});

test('a version without a schema has neither parameters nor presets, and a hidden plan has no presets', () => {
  const plan = JSON.stringify({ Parameters: { who: 'Ada' } });
  expect(parametersOf(version({ plan }))).toEqual([]);
  expect(presetsOf(version({ plan }))).toEqual({});
  expect(presetsOf(version({ parameters: { type: 'object' } }))).toEqual({});
});
