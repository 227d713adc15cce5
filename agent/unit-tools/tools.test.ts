import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bundleUnitTools } from '#server/agent-files/bundle-agent.ts';
import { AmpServer } from '../amp/server.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { hookEnvironmentOf } from '../unit/hook-environment.ts';
import { placeTools } from '../unit/place-tools.ts';
import { runTool } from './run-tool.ts';
import { toolNames } from './tool-names.ts';

let folder = '';
let stage: UnitStage;
let server: AmpServer;
let environment: Record<string, string> = {};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-tools-'));
  stage = new UnitStage();
  server = await AmpServer.listen(join(folder, 'ensemble.sock'), { respond: stage.respond });
  stage.begin('run-1');
  environment = hookEnvironmentOf({
    ...{ goal: stage.goal, clientId: 'run-1', socket: server.path, container: folder, formulaRoot: folder },
    due: { kind: 'changed', hook: 'db-relation-changed', relation: { id: 3, name: 'db' }, remoteUnit: 'mysql/0' },
    ...{ members: ['mysql/0', 'mysql/1'], tools: join(folder, 'tools', '1'), inherited: process.env },
  });
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs a command in this process. Reading standard input without `input` fails. */
async function run(line: string, input?: string, changes: Record<string, string | undefined> = {}): Promise<Ran> {
  const [name = '', ...words] = line.split(' ').filter((word) => word !== '');
  let [out, err] = ['', ''];
  const code = await runTool(name, words, {
    environment: { ...environment, ...changes },
    readInput: async () => {
      if (input === undefined) throw new Error('standard input was read');
      return input;
    },
    print: (text) => {
      out += text;
    },
    warn: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

describe('EN-20 relation-get', () => {
  test.each([
    ['relation-get host', '10.0.0.4\n'],
    ['relation-get port', '3306\n'],
    ['relation-get host --format=json', '"10.0.0.4"\n'],
    ['relation-get', '{"host":"10.0.0.4","port":3306,"password":"correct horse"}\n'],
    ['relation-get -', '{"host":"10.0.0.4","port":3306,"password":"correct horse"}\n'],
    ['relation-get - wordpress/1', '{}\n'],
    ['relation-get -r db:3 host mysql/0', '10.0.0.4\n'],
  ])('%s', async (line, out) => {
    expect(await run(line)).toEqual({ code: 0, out, err: '' });
  });

  test('EN-12 of a missing key prints null and fails', async () => {
    expect(await run('relation-get absent')).toEqual({ code: 1, out: 'null\n', err: 'KeyError: absent\n' });
  });

  test('EN-60 prints nothing if the value cannot be read', async () => {
    expect(await run('relation-get host other/0')).toMatchObject({ code: 1, out: '' });
    await server.close();
    expect(await run('relation-get host')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('cannot be reached'),
    });
    server = await AmpServer.listen(join(folder, 'ensemble.sock'), { respond: stage.respond });
  });

  test('EN-38 needs the name of a unit in broken', async () => {
    expect((await run('relation-get host', undefined, { ENSEMBLE_REMOTE_UNIT: '' })).code).toBe(2);
    expect((await run('relation-get host mysql/0', undefined, { ENSEMBLE_REMOTE_UNIT: '' })).out).toBe('10.0.0.4\n');
  });
});

describe('EN-19 relation-set', () => {
  const own = async () => JSON.parse((await stage.get('run-1', '', 'wordpress/1')) ?? '');

  test('takes values, files and standard input', async () => {
    const file = join(folder, 'value');
    writeFileSync(file, '@not a file\n');
    expect(await run(`relation-set a=1 b=x=y empty= file=@${file}`)).toEqual({ code: 0, out: '', err: '' });
    expect(await run('relation-set piped=@-', 'line 1\nline "2"\n')).toMatchObject({ code: 0 });
    expect(await own()).toEqual({ a: '1', b: 'x=y', empty: '', file: '@not a file\n', piped: 'line 1\nline "2"\n' });
  });

  test('takes a JSON object on standard input, whose numbers keep their digits', async () => {
    await run('relation-set', '{"big":12345678901234567890,"quote":"\\"$x\'","old":1}');
    await run('relation-set - b=2', '{"b":1,"old":null}');
    expect(await stage.get('run-1', 'big', 'wordpress/1')).toBe('12345678901234567890');
    expect(await own()).toMatchObject({ quote: '"$x\'', b: '2' });
    expect(await own()).not.toHaveProperty('old');
  });

  test.each([
    ['relation-set', '[1]', 1],
    ['relation-set', '5', 1],
    ['relation-set', '{"a":1', 1],
    ['relation-set novalue', undefined, 2],
    ['relation-set =x', undefined, 2],
    ['relation-set a=@- b=@-', '', 2],
    ['relation-set - a=@-', '{}', 2],
    ['relation-set a=@/nowhere/file', undefined, 1],
  ])('%s with the input %j is refused and sets nothing', async (line, input, code) => {
    expect(await run(line, input)).toMatchObject({ code, out: '', err: expect.stringMatching(/\n$/) });
    expect(await own()).toEqual({});
  });

  test('rejects a value that AMP cannot carry', async () => {
    const { code, err } = await run(`relation-set a=${'v'.repeat(65_536)}`);
    expect([code, err.slice(0, 9)]).toEqual([1, 'TooLong: ']);
  });

  test('EN-70 with arguments reads nothing of standard input', async () => {
    expect(await run('relation-set a=1')).toEqual({ code: 0, out: '', err: '' });
  });
});

test.each([
  ['relation-list', 'mysql/0\nmysql/1\n'],
  ['relation-list --format json', '["mysql/0","mysql/1"]\n'],
  ['config-get title', 'My blog\n'],
  ['config-get', '{"title":"My blog","workers":4,"key":"protected"}\n'],
  ['unit-get private-address', '10.0.0.5\n'],
  ['unit-get private-address --format json', '"10.0.0.5"\n'],
])('EN-30 %s', async (line, out) => {
  expect(await run(line)).toEqual({ code: 0, out, err: '' });
});

test('EN-62 open-port and close-port', async () => {
  for (const line of ['open-port 80', 'open-port 53/udp', 'close-port 80/tcp']) expect((await run(line)).code).toBe(0);
  expect(await run('open-port 0')).toMatchObject({ code: 1, err: expect.stringContaining('BadValue: ') });
  expect(stage.contexts.end('run-1').ports).toEqual({ open: ['53/udp'], close: ['80/tcp'] });
});

describe('EN-21 -o', () => {
  test('creates or replaces a file with what standard output would have had', async () => {
    const file = join(folder, 'out');
    writeFileSync(file, 'something longer than the value');
    expect(await run(`relation-get host -o ${file}`)).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(file, 'utf8')).toBe('10.0.0.4\n');
    expect(await run(`relation-get absent --output=${file}`)).toMatchObject({ code: 1, out: '' });
    expect(readFileSync(file, 'utf8')).toBe('null\n');
  });

  test('leaves the file alone if there is an error', async () => {
    const file = join(folder, 'out');
    await run(`relation-get host other/0 -o ${file}`);
    expect(existsSync(file)).toBe(false);
  });
});

describe('EN-22 options', () => {
  test.each(['--client-id other', '--client_id other', '--client_id=other'])(
    '%s beats the environment',
    async (option) => {
      stage.begin('other');
      await run(`relation-set ${option} a=1`);
      expect(stage.contexts.end('other').changes).toHaveLength(1);
      expect(stage.contexts.end('run-1').changes).toEqual([]);
    },
  );

  test('EN-13 an unknown client id is an error', async () => {
    expect(await run('relation-get --client-id x host')).toMatchObject({
      ...{ code: 1, out: '', err: expect.stringContaining('UnknownClient: ') },
    });
  });

  test('-s names another socket', async () => {
    const outside = { ENSEMBLE_SOCKET: undefined };
    expect((await run('relation-list', undefined, outside)).code).toBe(2);
    expect((await run(`relation-list -s ${server.path}`, undefined, outside)).out).toBe('mysql/0\nmysql/1\n');
  });

  test('EN-25 EN-31 outside of hooks, commands read what is current and set nothing', async () => {
    const outside = { ENSEMBLE_CLIENT_ID: undefined, ENSEMBLE_RELATION_ID: undefined };
    expect((await run('relation-get -r db:3 host', undefined, outside)).out).toBe('10.0.0.4\n');
    stage.change('3 mysql/0', { host: '"new"' });
    expect((await run('relation-get -r db:3 host', undefined, outside)).out).toBe('new\n');
    expect((await run('relation-set -r db:3 a=1', undefined, outside)).err).toContain('UnknownClient: ');
  });

  test.each([
    'relation-get --unknown',
    'relation-get --format xml',
    'relation-list x',
    'unit-get',
    'open-port',
    'ensemble-log --param x',
  ])('%s is wrong and prints the usage', async (line) => {
    expect(await run(line)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: ') });
  });
});

describe('EN-31 ensemble-log', () => {
  test('EN-22 needs no client id', async () => {
    await run('ensemble-log -l warning two words', undefined, { ENSEMBLE_CLIENT_ID: undefined });
    await run('ensemble-log --id no_database --param mysql/0 --param x');
    await run('ensemble-log', 'line 1\n\nline 3\n');
    expect(stage.logged).toEqual([
      { clientId: null, level: 'WARNING', message: 'two words' },
      { clientId: 'run-1', level: 'INFO', message: '', id: 'no_database', params: ['mysql/0', 'x'] },
      ...['line 1', '', 'line 3'].map((message) => ({ clientId: 'run-1', level: 'INFO', message })),
    ]);
  });

  test('ensemble-logger is reserved', async () => {
    expect(await run('ensemble-logger x')).toEqual({ code: 1, out: '', err: 'reserved; use ensemble-log\n' });
  });
});

describe('the commands in the PATH of a hook', () => {
  const script = `
    for unit in $(relation-list); do relation-set "seen-$unit=yes" || exit 3; done
    relation-list | while read -r unit; do relation-set "read-$unit=yes"; done
    printf '{"json":1e400}' | relation-set
    relation-get host
  `;

  test('EN-70 EN-80 run in a shell, and see what any other client of the socket sees', async () => {
    const program = await bundleUnitTools();
    placeTools(join(folder, 'tools', '1'), program);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script], {
      env: { NODE_ENV: 'test', ...environment },
    });
    expect(stdout).toBe('10.0.0.4\n');
    const node = '{"seen-mysql/0":"yes","seen-mysql/1":"yes","read-mysql/0":"yes","read-mysql/1":"yes","json":1e400}';
    expect(await stage.get('run-1', '', 'wordpress/1')).toBe(node);
    // Node's start is most of a call, so the program contains nothing but what it needs.
    expect(Buffer.byteLength(program)).toBeLessThan(20_000);
  });

  test('are executable scripts, with a link for people', () => {
    placeTools(join(folder, 'tools', '1'));
    placeTools(join(folder, 'tools', '2'), 'program');
    expect(toolNames.map((name) => statSync(join(folder, 'tools', '1', name)).mode & 0o700)).toEqual(
      toolNames.map(() => 0o700),
    );
    expect(readlinkSync(join(folder, 'tools', 'current'))).toBe('2');
    expect(readFileSync(join(folder, 'tools', 'current', 'unit-tools.mjs'), 'utf8')).toBe('program');
    expect(readFileSync(join(folder, 'tools', '1', 'config-get'), 'utf8')).toContain('unit-tools/main.ts');
  });
});
