import { beforeEach, describe, expect, test } from 'vitest';
import { UnitStage } from '../testing/unit-stage.ts';

let stage: UnitStage;
beforeEach(() => {
  stage = new UnitStage();
  stage.begin('hook');
  stage.begin('start', { relation: null });
});

const client = { client_id: 'hook' };
const own = { ...client, unit_name: 'wordpress/1' };
const remote = { ...client, unit_name: 'mysql/0' };

describe('a command with arguments that cannot be used', () => {
  test.each<[string, string, Record<string, string | Buffer>, string]>([
    ['EN-12 a missing key', 'get', { ...remote, setting_name: 'absent' }, 'KeyError'],
    ['EN-2 a name that is not a unit’s', 'get', { ...client, unit_name: 'wordpress' }, 'NoSuchUnit'],
    ['EN-2 a name that would leave its folder', 'get', { ...client, unit_name: '../x/1' }, 'NoSuchUnit'],
    ['EN-4 a unit that does not take part', 'get', { ...client, unit_name: 'other/0' }, 'NoSuchUnit'],
    ['no unit', 'get', client, 'BadValue'],
    ['a relation of another unit', 'get', { ...remote, relation_id: 'db:9' }, 'NoSuchUnit'],
    ['a relation with another name', 'get', { ...remote, relation_id: 'cache:3' }, 'NoSuchUnit'],
    ['a hook of the unit without a relation', 'get', { ...remote, client_id: 'start' }, 'BadValue'],
    ['a key that is not UTF-8', 'get', { ...remote, setting_name: Buffer.from([0xff]) }, 'BadValue'],
    ['EN-15 another unit', 'set', { ...remote, json_blob: '{}' }, 'NotPermitted'],
    [
      'EN-15 a unit that is in no relation',
      'set',
      { ...client, unit_name: 'other/0', json_blob: '{}' },
      'NotPermitted',
    ],
    ['EN-3 the service', 'set', { ...client, unit_name: 'wordpress', json_blob: '{}' }, 'NotPermitted'],
    ['EN-2 no unit', 'set', { ...client, unit_name: 'x', json_blob: '{}' }, 'NoSuchUnit'],
    ['a relation that ends', 'set', { ...own, relation_id: 'cache:4', json_blob: '{}' }, 'NotPermitted'],
    ['no settings', 'set', own, 'BadValue'],
    ['no client', 'set', { unit_name: 'wordpress/1', json_blob: '{}' }, 'UnknownClient'],
    ['a name that is not an address', 'unit_get', { ...client, setting_name: 'host' }, 'KeyError'],
    ['an address that is not known', 'unit_get', { ...client, setting_name: 'public-address' }, 'KeyError'],
    ['no port', 'open_port', client, 'BadValue'],
    ['the port 0', 'open_port', { ...client, port: '0' }, 'BadValue'],
    ['the port 65536', 'open_port', { ...client, port: '65536' }, 'BadValue'],
    ['a range of ports', 'open_port', { ...client, port: '80-90' }, 'BadValue'],
    ['a port with a leading zero', 'open_port', { ...client, port: '080' }, 'BadValue'],
    ['another protocol', 'open_port', { ...client, port: '80', proto: 'sctp' }, 'BadValue'],
    ['a port of another unit', 'open_port', { ...client, port: '443' }, 'NotPermitted'],
    ['a port without a client', 'close_port', { port: '80' }, 'UnknownClient'],
    ['an unknown level', 'log', { level: 'LOUD', message: 'm' }, 'BadValue'],
    ['no message', 'log', { level: 'INFO' }, 'BadValue'],
    ['params that are not texts', 'log', { level: 'INFO', message: '', id: 'x', params: '[1]' }, 'BadValue'],
    ['params that are no JSON', 'log', { level: 'INFO', message: '', id: 'x', params: '[' }, 'BadValue'],
    ['EN-17 a reserved name', 'flush', client, 'NotImplemented'],
    ['EN-17 a reserved name', 'sync', {}, 'NotImplemented'],
    ['EN-17 a reserved name', 'wait', { ...client, keyname: 'k' }, 'NotImplemented'],
    ['EN-26 an unknown name', 'toString', client, 'UNHANDLED'],
  ])('%s: %s is refused', async (_, command, values, code) => {
    await expect(stage.call(command, values)).rejects.toMatchObject({ name: 'AmpError', code });
    expect(stage.contexts.end('hook').changes).toEqual([]);
  });

  test.each([
    ['[1]'],
    ['"x"'],
    ['5'],
    ['null'],
    ['{"a":1'],
    ['{"a":1}{}'],
    [''],
    ['\ufeff{"a":1}'],
    ['{"":1}'],
    [String.raw`{"a\u0000b":1}`],
    [String.raw`{"\ud800":1}`],
    [JSON.stringify({ ['k'.repeat(256)]: 1 })],
    [`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('EN-14 settings that are no JSON object, or have impossible keys: %j', async (json) => {
    await stage.set('hook', '{"before":1}');
    await expect(stage.set('hook', json)).rejects.toMatchObject({ code: 'BadValue' });
    expect(stage.contexts.end('hook').changes).toEqual([{ relation: 3, set: { before: '1' }, remove: [] }]);
  });
});

test('of a key that occurs twice in the settings, the last value counts', async () => {
  await stage.set('hook', '{"a":1,"a":2e0}');
  expect(await stage.get('hook', 'a', 'wordpress/1')).toBe('2e0');
});

test('a hook of the unit reads and sets a relation that it names', async () => {
  const named = { client_id: 'start', relation_id: 'db:3' };
  expect(await stage.call('get', { ...named, unit_name: 'mysql/0', setting_name: 'port' })).toEqual({ value: '3306' });
  await stage.set('start', '{"a":1}', 'wordpress/1', '3');
  expect(stage.contexts.end('start').changes).toEqual([{ relation: 3, set: { a: '1' }, remove: [] }]);
});

test('unit_get gives the address of the unit’s machine', async () => {
  expect(await stage.call('unit_get', { setting_name: 'private-address' })).toEqual({ value: '10.0.0.5' });
});

describe('EN-62 ports', () => {
  test('are pending, and of several commands about one port the last one counts', async () => {
    const words = [
      ['open_port', '80', 'tcp'],
      ['open_port', '53', 'udp'],
      ['close_port', '80', 'tcp'],
      ['close_port', '443', 'tcp'],
      ['open_port', '8080', ''],
    ] as const;
    for (const [command, port, proto] of words) {
      await stage.call(command, { ...client, port, ...(proto !== '' && { proto }) });
    }
    expect(stage.contexts.end('hook').ports).toEqual({ open: ['53/udp', '8080/tcp'], close: ['80/tcp', '443/tcp'] });
  });

  test('are at most 256', async () => {
    for (let port = 1; port <= 256; port++) await stage.call('open_port', { ...client, port: String(port) });
    await expect(stage.call('open_port', { ...client, port: '257' })).rejects.toMatchObject({ code: 'BadValue' });
    await stage.call('close_port', { ...client, port: '256' });
  });
});

test('EN-31 log needs no hook, and keeps the id and the params of a message', async () => {
  await stage.call('log', { level: 'ERROR', message: 'no database', id: 'no_database', params: '["mysql/0"]' });
  await stage.call('log', { ...client, level: 'DEBUG', message: 'line 1\nline 2' });
  await stage.call('log', { ...client, level: 'INFO', message: '', id: 'ready' });
  expect(stage.logged).toEqual([
    { clientId: null, level: 'ERROR', message: 'no database', id: 'no_database', params: ['mysql/0'] },
    { clientId: 'hook', level: 'DEBUG', message: 'line 1\nline 2' },
    { clientId: 'hook', level: 'INFO', message: '', id: 'ready', params: [] },
  ]);
});
