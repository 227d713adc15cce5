import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { archiveLogs } from './report/log-archives.ts';
import { filesOfHandler, zipOf } from './testing/fake-handler.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { textsOfZip } from './testing/read-zip.ts';
import { sealedFor } from './testing/seal.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const handlers = () => machine.portal.reports.flatMap((report) => report.handlers);
const enabled = () => handlers().find(({ state }) => state === 'enabled');
const log = (key: string) => machine.portal.logs.get(key)?.toString('utf8');
/** Whether a part of the package is on disk. */
const isBegun = () => {
  const incoming = join(machine.dir, 'incoming');
  return existsSync(incoming) && readdirSync(incoming).some((name) => statSync(join(incoming, name)).size > 0);
};
const commands = () => join(machine.dir, 'logs', 'Acme.Test.Echo-1.0.0.0', 'commands');

test('the complete output is uploaded in pieces, and the report contains the end of the output', async () => {
  await machine.addHandler({
    ...echo,
    script: '[ "$1" != enable ] || { echo begin; head -c 3000000 /dev/zero | tr "\\0" x; echo end; }',
  });
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 7 }]);
  await machine.start();
  const whole = `begin\n${'x'.repeat(3_000_000)}end\n`;
  await machine.portal.until('the whole output', () => log('echo 7 enable 1')?.length === whole.length);
  expect(log('echo 7 enable 1')).toBe(whole);
  const report = await machine.portal.until('enabled', enabled);
  expect(report.output).toMatch(/^\[Cut: only the end of 3000010 bytes\..*\]\nx+end\n$/s);
  const file = join(commands(), 'echo.7.enable.1.log');
  expect(readFileSync(file, 'utf8')).toBe(whole);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

longTest('outputs stay on disk during an outage and are sent after it, with their attempts', async () => {
  await machine.addHandler({ ...echo, script: 'echo "$1 said"' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', enabled);
  await machine.stop();
  machine.portal.away = true;
  machine.portal.logs.clear();
  const agent = await machine.start();
  await agent.lane.whenIdle();
  await machine.stop();
  expect(machine.portal.logs.size).toBe(0);
  machine.portal.away = false;
  await machine.start();
  await machine.portal.until('both attempts', () => log('echo 1 enable 2') && log('echo 1 enable 3'));
  expect(log('echo 1 enable 2')).toBe('enable said\n');
  expect(readdirSync(commands()).sort()).toEqual([
    'echo.1.enable.1.log',
    'echo.1.enable.2.log',
    'echo.1.enable.3.log',
    'echo.1.install.1.log',
  ]);
});

test.each<[string, unknown]>([
  ['an object', { password: 'swordfish-in-the-sea', pin: 'abc12' }],
  ['a text', 'swordfish-in-the-sea'],
])('AZ-C3 secrets are masked before output and status are stored or sent, across chunks: %s', async (_, settings) => {
  // Prints the secret in two parts, with a pause so that they arrive as two chunks.
  const script = `[ "$1" = enable ] || exit 0
printf 'the password is sword'; sleep 0.1; echo 'fish-in-the-sea and abc12'; cat config/1.settings
status='{"status":"success","message":{"id":"report","params":["swordfish-in-the-sea"]}}'
echo '[{"version":1.0,"timestampUTC":"2026-01-01T00:00:00Z","status":'$status'}]' > status/1.status`;
  await machine.addHandler({ ...echo, script });
  const sealed = sealedFor(machine.dir, settings);
  machine.portal.setGoal([{ ...echo, name: 'echo', settings: { publicSettings: {}, ...sealed } }]);
  await machine.start();
  const report = await machine.portal.until('enabled', enabled);
  const whole = await machine.portal.until('the output', () => log('echo 1 enable 1'));
  expect(report.output).toBe(whole);
  expect(whole).toContain('the password is [masked] and abc12\n');
  const statuses = () => machine.portal.reports.flatMap((report) => report.statuses);
  const status = await machine.portal.until('the status', () => statuses()[0]);
  expect(status.file).toMatchObject([{ status: { status: 'success', message: { params: ['[masked]'] } } }]);
  // The settings file is encrypted on disk, as received.
  expect(whole).toContain(sealed.protectedSettings);
  const found = spawnSync('grep', ['-rlF', 'fish-in-the-sea', join(machine.dir, 'logs'), join(machine.dir, 'reports')]);
  expect(found).toMatchObject({ status: 1 });
});

test('AZ-G11 logs that an operator requests are sent as an archive, even after the uninstall', async () => {
  await machine.addHandler({ ...echo, script: 'echo "own words" > "../../logs/$(basename "$PWD")/own.log"' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', enabled);
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
  await machine.portal.until('removed', () => handlers().find(({ state }) => state === 'removed'));
  const [some, none] = ['0190e0e0-0000-7000-8000-000000000001', '0190e0e0-0000-7000-8000-000000000002'];
  machine.portal.wantedLogs = [
    { id: some, handler: 'Acme.Test.Echo' },
    { id: none, handler: 'Acme.Test.Ech' },
  ];
  machine.portal.setGoal([]);
  await machine.portal.until('the archives', () => machine.portal.archives.size === 2);
  expect(machine.portal.archives.get(none)).toHaveLength(0);
  const texts = await textsOfZip(machine.portal.archives.get(some) ?? Buffer.alloc(0));
  expect([...texts.keys()]).toContain('Acme.Test.Echo-1.0.0.0/own.log');
  expect([...texts.keys()]).toContain('Acme.Test.Echo-1.0.0.0/commands/echo.2.uninstall.1.log');
});

test('AZ-G11 a link in place of a log folder is not followed', async () => {
  const secrets = join(machine.dir, 'certificates');
  mkdirSync(join(machine.dir, 'logs'), { recursive: true });
  symlinkSync(secrets, join(machine.dir, 'logs', 'Acme.Test.Echo-1.0.0.0'));
  const zip = join(machine.dir, 'logs.zip');
  await archiveLogs(join(machine.dir, 'logs'), 'Acme.Test.Echo', zip);
  expect(statSync(zip).size).toBe(0);
});

test('a log that is rotated while it is packed stops neither the archive nor the agent', async () => {
  const folder = join(machine.dir, 'logs', 'Acme.Test.Echo-1.0.0.0');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'new.log'), 'new words');
  writeFileSync(join(folder, 'old.log'), 'old words');
  utimesSync(join(folder, 'old.log'), new Date(), new Date(Date.now() - 60_000));
  const zip = join(machine.dir, 'logs.zip');
  const packed = archiveLogs(join(machine.dir, 'logs'), 'Acme.Test.Echo', zip);
  rmSync(join(folder, 'old.log'));
  await packed;
  const texts = [...(await textsOfZip(readFileSync(zip))).values()].join('\n');
  expect(texts).toContain('new words');
  expect(texts).toContain('could not be read: ENOENT');
});

test('AZ-G9 an interrupted download resumes, even after a restart', async () => {
  const zip = await zipOf({
    ...filesOfHandler(machine.callsFile, echo),
    // Random data, so that even the compressed package is larger than the 90,000 bytes that are sent before the cut.
    'ballast.txt': randomBytes(200_000).toString('hex'),
  });
  machine.portal.addPackage(echo.handler, echo.version, zip);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  machine.portal.cutPackages = { after: 90_000, times: 1, when: isBegun };
  await machine.start();
  const incoming = join(machine.dir, 'incoming');
  await machine.until('the break', () => machine.lines.some((line) => line.includes('did not arrive')));
  await machine.stop();
  const asked = machine.portal.ranges.length;
  const file = readdirSync(incoming).find((name) => name.endsWith('.zip')) ?? '';
  const { size } = statSync(join(incoming, file));
  expect(size).toBeGreaterThan(0);
  await machine.start();
  await machine.portal.until('enabled', enabled);
  expect(machine.portal.ranges.slice(asked)).toEqual([`bytes=${size}-`]);
  expect(readdirSync(incoming)).toEqual([]);
});

longTest('a package that fails to arrive twice is reported as a problem', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  machine.portal.cutPackages = { after: 100, times: 3, when: isBegun };
  await machine.start();
  await machine.portal.until('enabled', enabled);
  expect(machine.portal.reports.flatMap(({ problems = [] }) => problems)).toEqual([
    { about: 'echo', message: expect.stringContaining('Acme.Test.Echo 1.0.0.0 did not arrive: ') },
  ]);
});

test('a partial download that does not match is discarded, and the download starts over', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  machine.portal.cutPackages = { after: 100, times: 1, when: isBegun };
  await machine.start();
  const incoming = join(machine.dir, 'incoming');
  await machine.until('the break', () => machine.lines.some((line) => line.includes('did not arrive')));
  await machine.stop();
  const file = join(incoming, readdirSync(incoming)[0] ?? '');
  writeFileSync(file, Buffer.alloc(statSync(file).size, 'x'));
  await machine.start();
  await machine.portal.until('enabled', enabled);
  expect(machine.lines.some((line) => line.includes('does not match'))).toBe(true);
});
