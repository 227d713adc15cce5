import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RelationStage, type StagedUnit } from '#server/domain/services/relations/testing/relation-stage.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let stage: RelationStage;
let app: StagedUnit;
let base: StagedUnit;
const model = 'prod';
const viewer = { as: 'viewer' as const };
const operator = { as: 'operator' as const };

beforeAll(async () => {
  door = await openRestDoor();
  stage = await RelationStage.open(door.services, model);
  app = await stage.unit(await stage.service('app', { requires: { db: { interface: 'store' } } }));
  base = await stage.unit(await stage.service('base', { provides: { db: { interface: 'store' } } }));
});
afterAll(() => door.close());

describe('relations over the API', () => {
  test('a relation is added, listed, read with its settings, and removed', async () => {
    const body = { endpoints: ['app', 'base'] };
    const added = await door.expect<{ number: number; id: number }>('addRelation', { model }, 201, {
      ...operator,
      body,
    });
    const path = { model, number: String(added.number) };
    await stage.set(base, added.id, { host: '"a"', password: '"b"' });
    const listed = await door.expect<{ items: unknown[] }>('listRelations', { model }, 200, viewer);
    expect(listed.items).toHaveLength(1);
    expect(await door.expect('getRelation', path, 200, viewer)).toMatchObject({ state: 'behind', units: 2, clock: 3 });
    const nodes = await door.expect('listRelationNodes', path, 200, viewer);
    expect(JSON.stringify(nodes)).not.toContain('\\"a\\"');
    const settings = await door.expect('getRelationSettings', path, 200, operator);
    expect(settings).toMatchObject({
      nodes: [
        { unit: app.name },
        {
          settings: [
            { key: 'host', value: '"a"' },
            { key: 'password', value: null },
          ],
        },
      ],
    });
    const past = await door.expect('getRelationSettings', path, 200, { ...operator, query: '?at=2' });
    expect(past).toMatchObject({
      clock: 2,
      nodes: [{ unit: app.name }, { unit: base.name, version: 1, settings: [] }],
    });
    const node = { ...path, service: 'base', unit: '0' };
    expect(await door.expect('listNodeReaders', node, 200, viewer)).toMatchObject({ readers: [{ unit: app.name }] });
    const revealed = await door.expect('revealNode', node, 200, { ...operator, body: {} });
    expect(revealed).toMatchObject({ settings: [{ key: 'host' }, { key: 'password', value: '"b"' }] });
    const log = await door.expect('listRelationEvents', path, 200, viewer);
    expect(log).toMatchObject({ items: [{ clock: 3, kind: 'changed' }, { kind: 'joined' }, { kind: 'joined' }] });
    expect(await door.expect('removeRelation', path, 202, operator)).toMatchObject({ state: 'ending' });
  });

  test('a viewer changes nothing and reads no value', async () => {
    const path = { model, number: '1' };
    const body = { endpoints: ['app', 'base'] };
    await door.expect('addRelation', { model }, [403, 'forbidden'], { ...viewer, body });
    await door.expect('removeRelation', path, [403, 'forbidden'], viewer);
    await door.expect('getRelationSettings', path, [403, 'forbidden'], viewer);
    await door.expect('revealNode', { ...path, service: 'base', unit: '0' }, [403, 'forbidden'], {
      ...viewer,
      body: {},
    });
  });

  test.each([
    ['getRelation', { number: '0' }],
    ['getRelation', { number: '9999999999' }],
    ['listNodeReaders', { number: '1', service: '%2e%2e', unit: '0' }],
    ['listNodeReaders', { number: '1', service: 'base', unit: '01' }],
  ])('%s with %o is not found', async (operation, path) => {
    await door.expect(operation, { model, ...path }, [404, 'not_found'], viewer);
  });

  test.each(['-1', '1e3', 'yesterday', '2026-13-01T00:00:00Z'])('settings at %s are rejected', async (at) => {
    await door.expect('listRelationNodes', { model, number: '1' }, [400, 'invalid'], { ...viewer, query: `?at=${at}` });
  });

  test('an error says what happened in the caller’s language', async () => {
    const refused = await door.expect<{ detail: string }>('addRelation', { model }, [422, 'relation_no_match'], {
      ...{ ...operator, body: { endpoints: ['app', 'app'] }, headers: { 'accept-language': 'de' } },
    });
    expect(refused.detail).toContain('app (requires: db [store])');
    expect(refused.detail).toMatch(/^Kein Endpunkt/);
    await door.expect('getRelation', { model, number: '99' }, [404, 'relation_unknown'], viewer);
  });
});
