import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unitState } from '#protocol/unit-state.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { raiseHeads } from '../relations/index.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { textsOf } from './get-unit-settings.ts';
import { parseAfter } from './get-unit-state.ts';
import { timeoutsOf } from './goal-of.ts';

describe('the parameter after', () => {
  test.each<[string, [number, number][]]>([
    ['', []],
    ['3:17', [[3, 17]]],
    [
      '3:17,4:20',
      [
        [3, 17],
        [4, 20],
      ],
    ],
    ['3:17,3:18', [[3, 18]]],
    ['3:0', [[3, 0]]],
    ['3:99999999999999', [[3, 99_999_999_999_999]]],
  ])('%j is read', (text, clocks) => {
    expect([...parseAfter(text)]).toEqual(clocks);
  });

  test.each(['3', '3:', ':3', '3:-1', '-3:1', '0:1', '3:1,', '3:1;4:2', '3:1.5', '3:9999999999999999', 'db:3', ' 3:1'])(
    '%j is rejected',
    (text) => {
      expect(() => parseAfter(text)).toThrow(expect.objectContaining({ code: 'units_after_form' }));
    },
  );
});

test.each<[string, [string, string][]]>([
  ['{}', []],
  [
    '{"a":"x","b":null,"c":true}',
    [
      ['a', '"x"'],
      ['b', 'null'],
      ['c', 'true'],
    ],
  ],
  [
    '{"n":1.0,"m":12345678901234567890,"e":1E400}',
    [
      ['n', '1.0'],
      ['m', '12345678901234567890'],
      ['e', '1E400'],
    ],
  ],
  ['{"list":[1.50,{"deep":-0}]}', [['list', '[1.50,{"deep":-0}]']]],
  [
    '{"__proto__":{"a":1},"constructor":2}',
    [
      ['__proto__', '{"a":1}'],
      ['constructor', '2'],
    ],
  ],
])('EN-42 the values of %s come as JSON texts', (json, texts) => {
  expect(Object.entries(textsOf(json))).toEqual(texts);
});

test('time limits are those of the service, or else of the formula', () => {
  const manifest = { timeouts: { install: 120, default: 60 } } as unknown as Parameters<
    typeof timeoutsOf
  >[0]['manifest'];
  expect(timeoutsOf({ manifest, timeouts: {} })).toEqual({ install: 120, default: 60 });
  expect(timeoutsOf({ manifest, timeouts: { install: 30, start: 5 } })).toEqual({ install: 30, start: 5, default: 60 });
  expect(timeoutsOf({ manifest: { ...manifest, timeouts: {} }, timeouts: {} })).toEqual({ default: 300 });
});

describe('a look', () => {
  let stage: UnitStage;
  let service: string;
  beforeAll(async () => {
    stage = await UnitStage.open();
    service = await stage.service('blog', { metadata: { masked: ['password'] } });
  });
  afterAll(() => stage.close());

  test('lists all units of the VM by name, and no unit of another VM', async () => {
    const first = await stage.unit(service);
    const other = await stage.service('abacus');
    const second = await stage.unit(other, { agent: first.agent });
    const third = await stage.unit(service, { agent: first.agent });
    await stage.unit(service);
    const { state } = await first.look();
    expect(unitState.parse(state)).toEqual(state);
    expect(state.units.map(({ unit }) => unit)).toEqual([second.name, first.name, third.name]);
    expect(state.units.map(({ masked }) => masked)).toEqual([[], ['password'], ['password']]);
  });

  test('EN-52 notes once since when an agent has fetched a unit', async () => {
    const unit = await stage.unit(service);
    expect((await unit.row()).agentSince).toBeNull();
    await unit.look();
    const { agentSince, machineEnrolledAt } = await unit.row();
    expect(agentSince).not.toBeNull();
    expect(machineEnrolledAt).not.toBeNull();
    await unit.look();
    expect((await unit.row()).agentSince).toEqual(agentSince);
  });

  test('runs three statements for one unit and for several', async () => {
    const unit = await stage.unit(service);
    await unit.look();
    // Without the statement that reloads changed agents in batches.
    const count = async () =>
      (await statementsOf(() => unit.look())).filter((text) => !text.includes('credential_hash = any')).length;
    const one = await count();
    for (const _ of [1, 2]) await stage.unit(service, { agent: unit.agent });
    await unit.look();
    expect([one, await count()]).toEqual([3, 3]);
  });

  test('has another stamp after each change of the units, even if the agent has none', async () => {
    const unit = await stage.unit(service);
    const stamps = [(await unit.look()).stamp];
    await stage.ctx.db.transaction((tx) => raiseHeads(tx, stage.ctx, [unit.vmId]));
    stamps.push((await unit.look()).stamp);
    await stage.ctx.db.execute(`update units set removed_at = now() where id = '${unit.id}'`);
    await stage.ctx.db.transaction((tx) => raiseHeads(tx, stage.ctx, [unit.vmId]));
    const { state, stamp } = await unit.look();
    expect(state.units).toEqual([]);
    expect(new Set([...stamps, stamp]).size).toBe(3);
  });

  test('names what an operator decided about the run that failed', async () => {
    const unit = await stage.unit(service);
    const run = uuid();
    await stage.ctx.db.execute(`update units set resolutions =
      '[{"run":"${run}","how":"skip","at":"2026-11-01T12:00:00Z","by":"Ada"}]' where id = '${unit.id}'`);
    expect((await unit.look()).state.units[0]?.resolution).toEqual({ run, how: 'skip' });
  });
});
