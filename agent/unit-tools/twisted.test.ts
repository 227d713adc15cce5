import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programRoot } from '#server/testing/programs.ts';
import { AmpClient } from '../amp/client.ts';
import { AmpServer } from '../amp/server.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { runTool } from './run-tool.ts';

const stage = new UnitStage();
let folder = '';
let server: AmpServer;
let peer: ChildProcess;
/** What the client written with Twisted saw. */
let seen: Record<string, unknown> = {};
/** The sockets of the server written with Twisted. */
let twisted = '';

/** Debian's Python, for which Twisted was built; otherwise the one that was unpacked with it. */
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-twisted-'));
  twisted = join(folder, 'twisted.sock');
  server = await AmpServer.listen(join(folder, 'ensemble.sock'), { respond: stage.respond });
  for (const client of ['twisted', 'second']) stage.begin(client);
  const unpacked = join(programRoot, 'usr/lib/python3/dist-packages');
  peer = spawn(python, [join(import.meta.dirname, '../testing/twisted/peer.py'), server.path, twisted], {
    env: { ...process.env, PYTHONPATH: unpacked },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: peer.stdout! })) {
    if (line === 'serving') break;
    seen = JSON.parse(line) as Record<string, unknown>;
  }
}, 120_000);

afterAll(async () => {
  const ended = once(peer, 'exit');
  peer.stdin?.end();
  await ended;
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const everything = { host: '10.0.0.4', port: 3306, password: 'correct horse' };

describe('EN-26 EN-80 a client written with Twisted', () => {
  test.each<[string, unknown]>([
    ['value', { value: '"10.0.0.4"' }],
    ['missing key', ['KeyError', 'absent']],
    ['whole node', { value: JSON.stringify(everything) }],
    ['other unit’s node', ['NotPermitted', expect.any(String)]],
    ['no unit', ['NoSuchUnit', expect.any(String)]],
    ['no object', ['BadValue', expect.any(String)]],
    ['members', { members: 'mysql/0 mysql/1' }],
    ['unknown client', ['UnknownClient', expect.any(String)]],
    ['flush', ['NotImplemented', expect.any(String)]],
    ['sync', ['NotImplemented', expect.any(String)]],
    ['wait', ['NotImplemented', expect.any(String)]],
    ['unknown command', ['UnhandledCommand', expect.any(String)]],
    ['after errors', { value: '3306' }],
    ['set', {}],
    ['own value', { value: '"Grüße \u2028 \u{1f600}"' }],
    ['set without an answer', { value: '1' }],
    ['get sent with a set', { value: '12' }],
    ['set sent with a get', {}],
    ['200 asks', ['{"value": "\\"10.0.0.4\\""}', '{"value": "3306"}', '["KeyError", "absent"]']],
    ['200 asks agree', true],
    ['other connection', { value: '12' }],
    ['other client', ['KeyError', 'pool']],
    ['byte by byte', { value: '"10.0.0.4"' }],
    ['set byte by byte', {}],
    ['65,535 bytes', ['TooLong', expect.any(String)]],
    ['64,000 bytes', {}],
    ['large value', 63_999],
    ['65,536 bytes', 'TooLong'],
    ['empty box', true],
    ['key of 256 bytes', true],
    ['garbage', true],
    ['answer that was not requested', true],
    ['after closed connections', { value: '"10.0.0.4"' }],
  ])('sees what it expects: %s', (name, expected) => {
    expect(seen.failed).toBeUndefined();
    expect(seen[name]).toEqual(expected);
  });

  test('EN-10 has changed what the hook’s end returns', () => {
    const { set } = stage.contexts.end('twisted').changes[0] ?? {};
    expect(set).toEqual({ user: '"wp"', text: '"Grüße \u2028 \u{1f600}"', silent: '1', pool: '12', slow: 'true' });
  });
});

/** Runs a command for hooks against the server written with Twisted. */
async function run(line: string, socket = twisted): Promise<string> {
  const [name = '', ...words] = line.split(' ');
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  const environment = {
    ENSEMBLE_CLIENT_ID: 'twisted',
    ENSEMBLE_LOCAL_UNIT: 'wordpress/1',
    ENSEMBLE_REMOTE_UNIT: 'mysql/0',
  };
  const code = await runTool(name, [...words, '-s', socket], {
    ...{ environment, print, warn: print },
    readInput: async () => '',
  });
  return `${code} ${printed}`;
}

describe('EN-26 EN-80 a server written with Twisted answers', () => {
  test.each([
    ['relation-get host', '0 10.0.0.9\n'],
    ['relation-get absent', '1 null\nKeyError: '],
    ['relation-get --client-id x host', '1 UnknownClient: '],
    ['relation-list', '0 mysql/0\nmysql/1\n'],
    ['config-get', '1 UNHANDLED: '],
    ['relation-set user=wp pool=12', '0 '],
    ['relation-get sets', '0 [["twisted", "wordpress/1", "{\\"user\\":\\"wp\\",\\"pool\\":\\"12\\"}"]]\n'],
  ])('%s', async (line, printed) => {
    expect((await run(line)).slice(0, printed.length)).toBe(printed);
  });

  test('byte by byte', async () => {
    expect(await run('relation-get host', `${twisted}.slow`)).toBe('0 10.0.0.9\n');
  });

  test('64 requests at the same time', async () => {
    const client = await AmpClient.open(twisted);
    const asks = Array.from({ length: 64 }, (_, at) => ({ setting_name: at % 2 === 0 ? 'host' : 'port' }));
    const answers = await Promise.all(
      asks.map((ask) => client.call('get', { client_id: 'twisted', unit_name: 'mysql/0', ...ask })),
    );
    const values = answers.map((answer) => answer.get('value')?.toString());
    expect(values).toEqual(asks.map(({ setting_name }) => (setting_name === 'host' ? '"10.0.0.9"' : '3307')));
    client.close();
  });
});
