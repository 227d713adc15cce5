import { expect, test } from 'vitest';
import { type HookEnvironmentInput, hookEnvironmentOf, toolsFolderOf } from './hook-environment.ts';

const input: HookEnvironmentInput = {
  goal: {
    ...{ unit: 'wordpress/1', model: 'prod' },
    formula: {
      ...{ id: 'Acme.Blog.wordpress', name: 'wordpress', version: '1.2', hooks: [] },
      package: { sha256: '', size: 0, url: '' },
    },
  },
  due: { kind: 'start', hook: 'start' },
  ...{ clientId: 'run-1', socket: '/a/units/wordpress-1/ensemble.sock', container: '/a/units/wordpress-1' },
  ...{ formulaRoot: '/a/units/wordpress-1/formula', members: ['mysql/0', 'mysql/1'] },
  tools: toolsFolderOf('/a', '0.1.0'),
  inherited: {
    PATH: '/usr/bin:/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
    LC_ALL: '',
    SECRET: 'x',
    ENSEMBLE_REMOTE_UNIT: 'y/1',
  },
};
const relation = { id: 3, name: 'db' };

const ofEveryHook = {
  PATH: '/a/tools/0.1.0:/usr/bin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  ENSEMBLE_SOCKET: '/a/units/wordpress-1/ensemble.sock',
  ENSEMBLE_CLIENT_ID: 'run-1',
  ENSEMBLE_LOCAL_UNIT: 'wordpress/1',
  ENSEMBLE_SERVICE: 'wordpress',
  ENSEMBLE_FORMULA: 'wordpress',
  ENSEMBLE_CONTAINER_PATH: '/a/units/wordpress-1',
  ENSEMBLE_FORMULA_PATH: '/a/units/wordpress-1/formula',
  ENSEMBLE_MODEL: 'prod',
};

test('EN-18 EN-75 a hook of the unit gets the variables of every hook, and nothing else of the agent’s', () => {
  expect(hookEnvironmentOf(input)).toEqual({ ...ofEveryHook, ENSEMBLE_HOOK: 'start' });
});

test('EN-18 a hook of a relation also gets the relation, its members and the remote unit', () => {
  const due = { kind: 'changed', hook: 'db-relation-changed', relation, remoteUnit: 'mysql/0' } as const;
  expect(hookEnvironmentOf({ ...input, due })).toEqual({
    ...ofEveryHook,
    ENSEMBLE_HOOK: 'db-relation-changed',
    ENSEMBLE_MEMBERS: 'mysql/0 mysql/1',
    ENSEMBLE_RELATION: 'db',
    ENSEMBLE_RELATION_ID: 'db:3',
    ENSEMBLE_REMOTE_UNIT: 'mysql/0',
  });
});

test('EN-38 in broken, the members and the remote unit are present and empty', () => {
  const due = { kind: 'broken', hook: 'db-relation-broken', relation } as const;
  expect(hookEnvironmentOf({ ...input, due })).toMatchObject({
    ...{ ENSEMBLE_MEMBERS: '', ENSEMBLE_REMOTE_UNIT: '', ENSEMBLE_RELATION: 'db', ENSEMBLE_RELATION_ID: 'db:3' },
  });
});

test('upgrade-formula gets the formula that is replaced, and other hooks do not', () => {
  const previous = { version: '1.1', root: '/a/units/wordpress-1/formula-1.1' };
  const due = { kind: 'upgrade-formula', hook: 'upgrade-formula' } as const;
  expect(hookEnvironmentOf({ ...input, due, previous })).toMatchObject({
    ENSEMBLE_PREVIOUS_FORMULA_VERSION: '1.1',
    ENSEMBLE_PREVIOUS_FORMULA_PATH: '/a/units/wordpress-1/formula-1.1',
  });
  expect(Object.keys(hookEnvironmentOf({ ...input, previous })).filter((key) => key.includes('PREVIOUS'))).toEqual([]);
});

test('a hook has a PATH, although the agent has none', () => {
  expect(hookEnvironmentOf({ ...input, inherited: {} }).PATH).toBe(
    '/a/tools/0.1.0:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  );
});
