import { beforeEach, describe, expect, test } from 'vitest';
import { newUnitRecord, unitRun } from '#protocol/index.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { contextInputOf } from './contexts.ts';
import { nodeLimits } from './node-texts.ts';

let stage: UnitStage;
let hook = '';
const own = 'wordpress/1';

beforeEach(() => {
  stage = new UnitStage();
  hook = stage.begin('run-1');
});

describe('EN-5 the view of a node', () => {
  test('stays the same for one hook although the node changes, and is new for the next hook', async () => {
    expect(await stage.get(hook, 'host')).toBe('"10.0.0.4"');
    stage.change('3 mysql/0', { host: '"10.0.0.9"', port: '1' });
    expect([await stage.get(hook, 'host'), await stage.get(hook, 'port')]).toEqual(['"10.0.0.4"', '3306']);
    expect(await stage.get(stage.begin('run-2'), 'host')).toBe('"10.0.0.9"');
    expect(stage.reads).toEqual(['3 mysql/0', '3 mysql/0']);
  });

  test('EN-6 is that of the first touch of each node', async () => {
    await stage.get(hook, 'host');
    stage.change('3 mysql/0', { host: '"late"' });
    stage.change('3 wordpress/1', { user: '"late"' });
    expect([await stage.get(hook, 'host'), await stage.get(hook, 'user', own)]).toEqual(['"10.0.0.4"', '"late"']);
  });

  test('EN-7 is independent for two clients at the same time', async () => {
    const other = stage.begin('run-2');
    await stage.get(hook, 'host');
    stage.change('3 mysql/0', { host: '"new"' });
    await stage.set(hook, '{"user":"wp"}');
    expect([await stage.get(hook, 'host'), await stage.get(other, 'host')]).toEqual(['"10.0.0.4"', '"new"']);
    await expect(stage.get(other, 'user', own)).rejects.toMatchObject({ code: 'KeyError' });
  });

  test('EN-8 is read by a set that is the first command', async () => {
    stage.change('3 wordpress/1', { user: '"before"' });
    await stage.set(hook, '{"pool":12}');
    stage.change('3 wordpress/1', { user: '"after"' });
    expect(await stage.get(hook, 'user', own)).toBe('"before"');
  });

  test('is read once for commands at the same time, which see the changes of commands before them', async () => {
    let open = (): void => {};
    stage.gate = new Promise((resolve) => {
      open = resolve;
    });
    const calls = [stage.get(hook, '', own), stage.set(hook, '{"a":1}'), stage.get(hook, '', own)];
    open();
    expect(await Promise.all(calls)).toEqual(['{}', undefined, '{"a":1}']);
    expect(stage.reads).toEqual(['3 wordpress/1']);
  });

  test('EN-30 contains the settings of the service', async () => {
    const config = async (name: string) =>
      (await stage.call('config_get', { client_id: hook, option_name: name })).value;
    expect(await config('workers')).toBe('4');
    stage.change('service', { workers: '9', title: '"New"' });
    expect(await config('')).toBe('{"title":"My blog","workers":4,"key":"protected"}');
    await expect(config('absent')).rejects.toMatchObject({ code: 'KeyError', message: 'absent' });
  });

  test('EN-31 of a command outside of hooks is what is current', async () => {
    const read = async () =>
      (await stage.call('get', { unit_name: 'mysql/0', setting_name: 'host', relation_id: 'db:3' })).value;
    expect(await read()).toBe('"10.0.0.4"');
    stage.change('3 mysql/0', { host: '"new"' });
    expect(await read()).toBe('"new"');
    expect((await stage.call('list_relations', { relation_id: '3' })).members).toBe('mysql/0 mysql/1');
  });
});

describe('EN-9 what a hook sets', () => {
  test('is read by this hook, and EN-10 is returned at its end', async () => {
    await stage.set(hook, '{"user":"wp","pool":12}');
    expect([await stage.get(hook, 'user', own), await stage.get(hook, 'pool', own)]).toEqual(['"wp"', '12']);
    expect(stage.nodes.get('3 wordpress/1')?.settings).toEqual({});
    await stage.get(hook, 'host');
    expect(stage.contexts.end(hook)).toEqual({
      views: [
        { relation: 3, unit: own, version: 1 },
        { relation: 3, unit: 'mysql/0', version: 12 },
      ],
      changes: [{ relation: 3, set: { user: '"wp"', pool: '12' }, remove: [] }],
      ports: { open: [], close: [] },
    });
  });

  test('EN-11 is returned with the changed keys only', async () => {
    stage.change('3 wordpress/1', { kept: '1', removed: '2', replaced: '3' });
    await stage.set(hook, '{"replaced":4,"removed":null,"absent":null}');
    expect(stage.contexts.end(hook).changes).toEqual([{ relation: 3, set: { replaced: '4' }, remove: ['removed'] }]);
  });

  test('EN-40 is nothing if it was set before, or set back', async () => {
    stage.change('3 wordpress/1', { user: '"wp"', pool: '1.0' });
    await stage.set(hook, '{"user":"wp","pool":2,"new":true}');
    await stage.set(hook, '{"pool":1.0,"new":null}');
    expect(stage.contexts.end(hook).changes).toEqual([]);
  });

  test('EN-41 can be the empty string, and null removes a key', async () => {
    await stage.set(hook, '{"empty":"","none":null}');
    expect(await stage.get(hook, '', own)).toBe('{"empty":""}');
  });

  test.each([
    ['12345678901234567890'],
    ['1e400'],
    ['-0'],
    ['0.10'],
    [String.raw`"\u0000"`],
    [String.raw`"\ud800"`],
    ['"<script>\u202e‮"'],
    ['[]'],
    ['false'],
    [`${'['.repeat(60)}${']'.repeat(60)}`],
    ['{"1":[-0.0],"__proto__":{"constructor":1}}'],
  ])('EN-42 comes back as the same JSON value: %s', async (text) => {
    await stage.set(hook, `{ "__proto__" : ${text}, "constructor":${text},"1":${text}, "a/b\\n":${text} }`);
    for (const key of ['__proto__', 'constructor', '1', 'a/b\n']) expect(await stage.get(hook, key, own)).toBe(text);
    const end = { phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 0, output: '', reason: null };
    const run = unitRun.parse(JSON.parse(JSON.stringify({ ...end, ...stage.contexts.end(hook) })));
    const { set = {} } = (run.phase === 'end' ? run.changes?.[0] : undefined) ?? {};
    expect(Object.getOwnPropertyDescriptor(set, '__proto__')?.value).toBe(text);
  });

  test('EN-43 is rejected if the node would be larger than 64,000 bytes, and what is pending stays', async () => {
    const bytes = nodeLimits.bytes - '{"big":""}'.length;
    await stage.set(hook, JSON.stringify({ big: 'v'.repeat(bytes) }));
    await expect(stage.set(hook, '{"a":1}')).rejects.toMatchObject({ code: 'TooLong' });
    await expect(stage.set(hook, JSON.stringify({ big: 'v'.repeat(bytes + 1) }))).rejects.toMatchObject({
      code: 'TooLong',
    });
    expect(stage.contexts.end(hook).changes[0]?.set.big).toHaveLength(bytes + 2);
  });

  test('EN-43 is rejected if the node would have more than 1,000 keys', async () => {
    const keys = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 1])));
    await stage.set(hook, keys(1_000));
    await expect(stage.set(hook, '{"more":1}')).rejects.toMatchObject({ code: 'TooLong' });
    await stage.set(hook, '{"0":null,"more":1}');
  });
});

describe('EN-13 a client whose hook has ended', () => {
  test('is unknown, like one that never existed', async () => {
    await stage.get(hook, 'host');
    stage.contexts.end(hook);
    for (const client of [hook, 'guessed']) {
      await expect(stage.get(client, 'host')).rejects.toMatchObject({ code: 'UnknownClient' });
      await expect(stage.set(client, '{"a":1}')).rejects.toMatchObject({ code: 'UnknownClient' });
      await expect(stage.call('log', { client_id: client, level: 'INFO', message: 'm' })).rejects.toMatchObject({
        code: 'UnknownClient',
      });
    }
    expect(() => stage.contexts.end(hook)).toThrow('No hook');
  });

  test('gets no answer to what it sent before, and changes nothing', async () => {
    let open = (): void => {};
    stage.gate = new Promise((resolve) => {
      open = resolve;
    });
    const late = stage.set(hook, '{"late":1}');
    const refused = expect(late).rejects.toMatchObject({ code: 'UnknownClient' });
    expect(stage.contexts.end(hook)).toEqual({ views: [], changes: [], ports: { open: [], close: [] } });
    open();
    await refused;
  });
});

describe('EN-16 list_relations', () => {
  test('gives the members at the start of the hook, while units come and go', async () => {
    const members = async () => (await stage.call('list_relations', { client_id: hook })).members;
    expect(await members()).toBe('mysql/0 mysql/1');
    stage.goal.relations[0]!.members = [];
    expect(await members()).toBe('mysql/0 mysql/1');
  });

  test('EN-38 in broken, there is no member, nodes are read, and nothing can be set', async () => {
    stage.goal.relations[0]!.life = 'dying';
    const relation = { id: 3, name: 'db' };
    const due = {
      ...({ kind: 'broken', hook: 'db-relation-broken', because: 'relation-going', hasFile: true } as const),
      ...{ formula: '1.2', settings: 4, relation },
    };
    stage.begin('broken', contextInputOf(stage.goal, newUnitRecord(), due));
    expect((await stage.call('list_relations', { client_id: 'broken' })).members).toBe('');
    expect(await stage.get('broken', 'host')).toBe('"10.0.0.4"');
    await expect(stage.set('broken', '{"a":1}')).rejects.toMatchObject({ code: 'NotPermitted' });
  });
});
