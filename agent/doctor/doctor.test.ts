import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { doctor } from '../commands/doctor.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { writeJson } from '../folder/write-file.ts';
import { createKey } from '../identity/create-key.ts';
import { openCaller } from '../portal/call.ts';
import { selfSigned } from '../testing/tls.ts';
import { examine } from './examine.ts';
import type { ExaminedMachine } from './examined-machine.ts';

let folder: string;
let layout: AgentLayout;
const servers: Server[] = [];
const heard: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-doctor-'));
  layout = layoutOf(join(folder, 'agent'));
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  heard.length = 0;
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Responds like a portal that knows the credential `credential-1`. `change` sets the date, status or code of every
 * response.
 */
const answer =
  (change: { date?: Date; status?: number; code?: string } = {}): RequestListener =>
  (request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers['annex-agent'] ?? '-'}`);
    const isKnown = request.headers.authorization === 'Bearer credential-1';
    if (change.date !== undefined) response.setHeader('date', change.date.toUTCString());
    response.writeHead(change.status ?? (isKnown ? 404 : 401), { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ code: change.code ?? 'some_code', detail: 'A reason' }));
  };

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function enrolledAt(portal: string): Promise<void> {
  const { thumbprint } = await createKey(layout, 'test');
  writeJson(layout.identity, { portal, name: 'test', thumbprint, vmId: 'vm', enrolledAt: null, pollSeconds: 30 });
  writeFileSync(layout.credential, 'credential-1\n', { mode: 0o600 });
}

const machine = (more: Partial<ExaminedMachine> = {}): ExaminedMachine => ({
  layout,
  call: openCaller({ environment: {} }),
  configurationFault: null,
  path: process.env.PATH,
  space: async () => ({ freeBytes: 1e10, freeFiles: 1e6, allFiles: 1e7 }),
  mayRun: async () => true,
  ...more,
});
const badOf = async (more: Partial<ExaminedMachine> = {}) =>
  (await examine(machine(more))).filter(({ verdict }) => verdict === 'bad');

test('a healthy machine passes every check, nothing changes, and no call is counted', async () => {
  await enrolledAt(`http://${await listen(createServer(answer()))}`);
  const findings = await examine(machine());
  expect(findings.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
    'configuration good',
    'folder good',
    'disk good',
    'process advice',
    'restart good',
    'identity good',
    'portal good',
    'clock good',
    'credential good',
    'programs good',
  ]);
  expect(heard).toEqual([`GET /agent/v1/packages/${'0'.repeat(64)} -`]);
});

test('a check that cannot run is a finding, and the other checks still run', async () => {
  await enrolledAt(`http://${await listen(createServer(answer()))}`);
  // File permissions do not restrict root. The lock is therefore a folder, which not even root can read as a file.
  mkdirSync(layout.lock);
  const [found, ...more] = await badOf();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ check: 'process', what: expect.stringContaining('cannot be checked: EISDIR') });
});

test('the doctor reports a stopped portal as bad', async () => {
  const address = await listen(createServer());
  await new Promise((resolve) => servers.pop()?.close(resolve));
  await enrolledAt(`http://${address}`);
  const [found, ...more] = await badOf();
  expect(more).toEqual([]);
  expect(found).toMatchObject({
    check: 'portal',
    what: expect.stringContaining('the connection was refused (ECONNREFUSED)'),
  });
  expect(found?.toDo).toContain('Start the portal');
});

test('the doctor reports an untrusted certificate authority, until it is configured', async () => {
  const tls = selfSigned(folder);
  await enrolledAt(`https://${await listen(createSecureServer(tls, answer()))}`);
  const [found, ...more] = await badOf();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ check: 'portal', what: expect.stringContaining('does not trust') });
  expect(found?.toDo).toContain('--ca FILE');
  expect(await badOf({ call: openCaller({ environment: {}, ca: tls.file }) })).toEqual([]);
});

test.each([
  [2 * 3600, '2 h behind'],
  [-2 * 3600, '2 h ahead of'],
  [-400, '7 min ahead of'],
])('the portal’s clock is %d s ahead', async (seconds, words) => {
  const date = new Date(Date.now() + seconds * 1000);
  await enrolledAt(`http://${await listen(createServer(answer({ date })))}`);
  const [found, ...more] = await badOf();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ check: 'clock', what: `The clock of this machine is ${words} the portal's.` });
  expect(found?.toDo).toContain('timedatectl set-ntp true');
});

test('the doctor reports a full disk (a small mounted file system or a simulated one)', async () => {
  await enrolledAt(`http://${await listen(createServer(answer()))}`);
  const isMounted = mountSmall(layout.reports);
  try {
    const space = async () => {
      const { bavail, bsize, ffree, files } = await statfs(layout.reports);
      return isMounted
        ? { freeBytes: bavail * bsize, freeFiles: ffree, allFiles: files }
        : { freeBytes: 4096, freeFiles: 10, allFiles: 10 };
    };
    const [found, ...more] = await badOf({ space });
    expect(more).toEqual([]);
    expect(found).toMatchObject({ check: 'disk', what: expect.stringContaining('0 MiB are free') });
    expect(found?.toDo).toContain('Free some space');
  } finally {
    if (isMounted) execFileSync('umount', [layout.reports]);
  }
  const noFiles = async () => ({ freeBytes: 1e10, freeFiles: 3, allFiles: 1000 });
  expect(await badOf({ space: noFiles })).toMatchObject([{ what: expect.stringContaining('only 3 more files') }]);
});

test.each<[string, () => void, string, string, string]>([
  ['a credential that others may read', () => chmodSync(layout.credential, 0o644), 'folder', 'can read', 'chmod 600'],
  ['a damaged key', () => damageKeys(), 'identity', 'cannot be read', 'from a backup'],
  ['no agent', () => rmSync(layout.identity), 'identity', 'has no enrolled agent', 'enroll --portal URL'],
])('%s', async (_, spoil, check, what, toDo) => {
  await enrolledAt(`http://${await listen(createServer(answer()))}`);
  spoil();
  const [found, ...more] = await badOf();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ check, what: expect.stringContaining(what), toDo: expect.stringContaining(toDo) });
});

test.each([
  ['a dead credential', { status: 401 }, 'credential bad'],
  ['a copied disk', { status: 409, code: 'duplicate_agent' }, 'credential bad'],
  ['a portal without its database', { status: 503 }, 'portal advice'],
  ['another web server', { status: 200, code: '' }, 'portal bad'],
])('%s', async (_, change, expected) => {
  await enrolledAt(`http://${await listen(createServer(answer(change)))}`);
  const findings = await examine(machine());
  expect(findings.map(({ check, verdict }) => `${check} ${verdict}`)).toContain(expected);
});

test('the doctor reports a file system on which no program may run', async () => {
  await enrolledAt(`http://${await listen(createServer(answer()))}`);
  const [found] = await badOf({ mayRun: async () => false });
  expect(found).toMatchObject({ check: 'folder', toDo: expect.stringContaining('remount,exec') });
});

test('doctor prints a line per check and what to do, with --json for programs', async () => {
  await enrolledAt(`http://${await listen(createServer(answer({ status: 401 })))}`);
  const printed: string[] = [];
  const options = { dir: layout.root, call: machine().call, configurationFault: 'config.json is not valid JSON.' };
  expect(await doctor(options, (line) => printed.push(line))).toBe(false);
  expect(printed[0]).toMatch(/^BAD +configuration +config\.json is not valid JSON\.\n +→ Correct the file/);
  expect(printed[0]).toContain('2 of 10 findings keep the agent from working.');
  expect(await doctor({ ...options, json: true }, (line) => printed.push(line))).toBe(false);
  expect(JSON.parse(printed[1] ?? '')).toMatchObject({
    ok: false,
    findings: expect.arrayContaining([expect.objectContaining({ check: 'credential', verdict: 'bad' })]),
  });
});

function mountSmall(path: string): boolean {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function damageKeys(): void {
  execFileSync('/bin/sh', ['-c', `for key in '${layout.certificates}'/*.prv; do echo broken > "$key"; done`]);
}

test('a remote portal without TLS is reported as advice, a local one is not', async () => {
  await enrolledAt('http://annex.invalid:3001');
  expect(await examine(machine())).toContainEqual({
    check: 'portal',
    verdict: 'advice',
    what: expect.stringContaining('http://annex.invalid:3001 is not encrypted'),
    toDo: expect.stringContaining('https'),
  });
});
