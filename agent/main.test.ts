import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { fakeHandler } from './testing/fake-handler.ts';
import { type FakePortal, fakePortal } from './testing/fake-portal.ts';

const main = agentProgram();
const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
let folder: string;
let dir: string;
let calls: string;
let portal: FakePortal;
let running: ChildProcess | null = null;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-agent-'));
  dir = join(folder, 'agent');
  calls = join(folder, 'calls.log');
  portal = await fakePortal();
  portal.addPackage(echo.handler, echo.version, await fakeHandler(calls, echo));
});
afterEach(async () => {
  running?.kill('SIGKILL');
  running = null;
  await portal.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs an agent command until it ends. */
function agent(...args: string[]): Promise<{ code: number | null; out: string; error: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { cwd: folder }, (_, out, error) => {
      resolve({ code: child.exitCode, out, error });
    });
  });
}

function start(...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [main, 'run', '--dir', dir, ...args], { cwd: folder, stdio: 'ignore' });
  running = child;
  return new Promise((resolve) => child.on('exit', (code) => resolve(code)));
}

const untilEnabled = () =>
  portal.until('enabled', () =>
    portal.reports.some(({ handlers }) => handlers.some(({ state }) => state === 'enabled')),
  );

test('enroll, once, status: a machine reaches its goal, and status shows it', async () => {
  const enrolled = await agent('enroll', '--portal', portal.url, '--token', 'token', '--dir', dir);
  expect(enrolled).toMatchObject({ code: 0, error: '' });
  expect(enrolled.out).toContain(`Enrolled at ${portal.url} as VM ${portal.vmId}.`);
  expect(enrolled.out).not.toContain('credential-1');
  expect(statSync(join(dir, 'credential')).mode & 0o777).toBe(0o600);
  portal.setGoal([{ ...echo, name: 'echo' }]);
  expect(await agent('once', '--dir', dir)).toMatchObject({ code: 0, error: '' });
  expect(readFileSync(calls, 'utf8')).toBe('Echo-1.0.0.0 install\nEcho-1.0.0.0 enable\n');
  const { out } = await agent('status', '--dir', dir);
  expect(out).toMatch(/^Goal state {4}1$/m);
  expect(out).toMatch(/^Reports {7}all acknowledged$/m);
  expect(out).toMatch(/^echo +Acme\.Test\.Echo +1\.0\.0\.0 +1 +enabled +enabled +enable exited with 0$/m);
  const json = JSON.parse((await agent('status', '--json', '--dir', dir)).out);
  expect(json).toMatchObject({ vmId: portal.vmId, process: null, extensions: [{ name: 'echo', state: 'enabled' }] });
});

longTest('run ends with 0 on SIGTERM, rejects a second agent, and continues after kill -9', async () => {
  await agent('enroll', '--portal', portal.url, '--token', 'token', '--dir', dir);
  portal.setGoal([{ ...echo, name: 'echo' }]);
  const ended = start();
  await untilEnabled();
  const second = await agent('run', '--dir', dir);
  expect(second).toMatchObject({ code: 1, error: expect.stringContaining('Another agent, process') });
  running?.kill('SIGKILL');
  await ended;
  portal.reports.length = 0;
  const endedAgain = start('--disable-on-exit');
  await untilEnabled();
  running?.kill('SIGTERM');
  expect(await endedAgain).toBe(0);
  expect(existsSync(join(dir, 'agent.pid'))).toBe(false);
  const commands = readFileSync(calls, 'utf8').trim().split('\n');
  expect(commands.map((line) => line.split(' ')[1])).toEqual(['install', 'enable', 'enable', 'disable']);
});

test.each<[string, () => string[], string]>([
  ['no token', () => ['enroll', '--portal', portal.url, '--dir', dir], 'No enrollment token. Use --token'],
  ['no portal', () => ['enroll', '--token', 't', '--dir', dir], 'No portal. Set --portal'],
  [
    'an address that is none',
    () => ['enroll', '--portal', 'portal', '--token', 't', '--dir', dir],
    'must be an http or https address',
  ],
  [
    'a portal that is not there',
    () => ['enroll', '--portal', 'http://127.0.0.1:9', '--token', 't', '--dir', dir],
    'did not respond',
  ],
  ['a folder without an agent', () => ['run', '--dir', dir], 'Enroll first'],
  [
    'a gateway without TLS on another machine',
    () => ['wire-forward', '--dir', dir, '--vm', 'a', '--gateway', 'http://annex.example.net'],
    'must have an https address',
  ],
  [
    'a guest without the address that its agent asks',
    () => {
      const token = join(folder, 'token');
      writeFileSync(token, 'token\n');
      const where = ['--gateway', portal.url, '--wire-address', '192.0.2.1:80'];
      return ['wire-forward', '--dir', dir, '--vm', 'a', '--guest-token-file', token, ...where];
    },
    'ip address replace 192.0.2.1/32 dev lo',
  ],
  ['a period that is none', () => ['run', '--dir', dir, '--heartbeat-seconds', '0'], '1 to 600 seconds'],
])('%s: one sentence says what to do', async (_, args, sentence) => {
  const { code, error } = await agent(...args());
  expect(code).toBe(1);
  expect(error).toContain(sentence);
  expect(error.trim().split('\n')).toHaveLength(1);
});

test('run --help explains where settings come from and names the variable of each', async () => {
  const { out } = await agent('run', '--help');
  expect(out.replace(/\s+/g, ' ')).toContain(
    'the option, its environment variable, config.json in the folder of --dir (heartbeatSeconds for --heartbeat-seconds), the default.',
  );
  expect(out.replace(/\s+/g, ' ')).toContain('(default: 120, env: ANNEX_AGENT_HEARTBEAT_SECONDS)');
});

longTest(
  'an enrollment without a response is repeated with the same key; a second enrollment is rejected',
  async () => {
    writeFileSync(join(folder, 'token'), 'token\n');
    portal.away = true;
    expect(
      (await agent('enroll', '--portal', portal.url, '--token-file', join(folder, 'token'), '--dir', dir)).code,
    ).toBe(1);
    const { thumbprint } = JSON.parse(readFileSync(join(dir, 'agent.json'), 'utf8'));
    portal.away = false;
    expect(
      (await agent('enroll', '--portal', portal.url, '--token-file', join(folder, 'token'), '--dir', dir)).code,
    ).toBe(0);
    expect(JSON.parse(readFileSync(join(dir, 'agent.json'), 'utf8')).thumbprint).toBe(thumbprint);
    const again = await agent('enroll', '--portal', portal.url, '--token', 'other', '--dir', dir);
    expect(again).toMatchObject({ code: 1, error: expect.stringContaining('is enrolled at') });
  },
);
