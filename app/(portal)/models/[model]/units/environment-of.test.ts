import { describe, expect, it } from 'vitest';
import { environmentOf } from './environment-of.ts';

const run = { id: 'r1', unit: 'my-blog/3', hook: 'start', remoteUnit: null, relationId: null };
const namesOf = (of: Parameters<typeof environmentOf>[1]) => environmentOf('prod', of).map(([name]) => name);

describe('EN-75 the environment of a hook', () => {
  it('of a unit names the unit, its service and its folder, and no relation', () => {
    expect(Object.fromEntries(environmentOf('prod', run))).toMatchObject({
      ...{ ENSEMBLE_MODEL: 'prod', ENSEMBLE_LOCAL_UNIT: 'my-blog/3', ENSEMBLE_SERVICE: 'my-blog' },
      ...{ ENSEMBLE_HOOK: 'start', ENSEMBLE_CLIENT_ID: 'r1' },
      ENSEMBLE_CONTAINER_PATH: '$ANNEX_DIR/units/my-blog-3',
    });
    expect(namesOf(run)).not.toContain('ENSEMBLE_RELATION');
  });

  it.each([
    [
      'web-db-relation-changed',
      'mysql/0',
      { ENSEMBLE_RELATION: 'web-db', ENSEMBLE_RELATION_ID: 'web-db:7', ENSEMBLE_REMOTE_UNIT: 'mysql/0' },
    ],
    ['db-relation-broken', null, { ENSEMBLE_RELATION: 'db', ENSEMBLE_REMOTE_UNIT: '' }],
  ])('of %s for %j names the relation', (hook, remoteUnit, expected) => {
    expect(Object.fromEntries(environmentOf('prod', { ...run, hook, remoteUnit, relationId: 7 }))).toMatchObject(
      expected,
    );
  });
});
