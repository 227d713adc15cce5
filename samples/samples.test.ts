import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GoalInput } from '#agent/testing/fake-portal.ts';
import { type TestMachine, testMachine } from '#agent/testing/machine.ts';
import { handlerManifestFile, resourceFile, type StatusObject, statusFile } from '#protocol/index.ts';
import { longTest } from '#server/testing/long.ts';
import { sampleLanguages, samplePackage, sampleResource, sampleSchema, samples } from './build.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const lastStatus = (sequence: number, word: string) => {
  const file = machine.portal.reports
    .flatMap((report) => report.statuses)
    .findLast((one) => one.sequenceNumber === sequence)?.file;
  return file !== undefined && statusFile.parse(file).status === word ? statusFile.parse(file) : undefined;
};
const heard = (state: string, extension = 'sample') =>
  machine.portal.until(`${extension} ${state}`, () =>
    machine.portal.reports
      .flatMap(({ handlers }) => handlers)
      .findLast((one) => one.extension === extension && one.state === state),
  );
const messagesOf = (status: StatusObject): { id: string; params: string[] }[] => [
  ...(status.message === undefined ? [] : [status.message]),
  ...status.substatus.flatMap(messagesOf),
];

/** Encrypts settings as the portal does, with programs that every machine has. */
function seal(settings: Record<string, unknown>): GoalInput['settings'] {
  const folder = join(machine.dir, 'certificates');
  const certificate = readdirSync(folder).find((name) => name.endsWith('.crt')) ?? '';
  const sealed = execFileSync('openssl', ['cms', '-encrypt', '-binary', '-outform', 'DER', join(folder, certificate)], {
    input: JSON.stringify(settings),
  });
  const thumbprint = certificate.replace('.crt', '');
  return { protectedSettings: sealed.toString('base64'), protectedSettingsCertThumbprint: thumbprint.toLowerCase() };
}

async function give(handler: string, version: string, goal: Partial<GoalInput>): Promise<void> {
  machine.portal.addPackage(handler, version, await samplePackage(handler, version));
  machine.portal.setGoal([{ handler, version, name: 'sample', ...goal }]);
}

/** Processes that have the machine's folder as working directory. */
function processesBelow(folder: string): string[] {
  const [out] = [execFileSync('/bin/sh', ['-c', `ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F '${folder}' || true`])];
  return out.toString().trim().split('\n').filter(Boolean);
}

describe.each(samples)('$handler $version', ({ handler, version, settings }) => {
  // One sample is run in every test run, all of them with the long tests.
  const testRun = handler === samples[0]!.handler ? test : longTest;

  test('is a valid package, with the same bytes each time', async () => {
    const folder = join(import.meta.dirname, handler, version);
    const manifest = JSON.parse(readFileSync(join(folder, 'HandlerManifest.json'), 'utf8'));
    expect(handlerManifestFile.safeParse(manifest).success).toBe(true);
    expect((await samplePackage(handler, version)).equals(await samplePackage(handler, version))).toBe(true);
    expect(Object.keys(sampleSchema(handler)).sort()).toEqual(Object.keys(settings).sort());
    for (const lang of sampleLanguages) expect(resourceFile.parse(sampleResource(handler, lang)).lang).toBe(lang);
  });

  testRun('installs, reports a status with known messages only, and leaves nothing running after disable', async () => {
    const sealed = settings.protectedSettings === undefined ? {} : seal(settings.protectedSettings);
    const publicSettings = {
      ...settings.publicSettings,
      ...(handler.startsWith('Helix') ? { rules: 1, secondsPerRule: 1 } : {}),
    };
    await give(handler, version, { settings: { publicSettings, ...sealed } });
    await machine.start();
    await heard('enabled');
    const word = handler.startsWith('Orbit') ? 'warning' : 'success';
    const status = await machine.portal.until('its status', () => lastStatus(1, word));
    const known = resourceFile.parse(sampleResource(handler, 'de')).messages.map(({ id }) => id);
    for (const { id } of messagesOf(status)) expect(known).toContain(id);
    await give(handler, version, { state: 'disabled', sequenceNumber: 2, settings: { publicSettings, ...sealed } });
    await heard('disabled');
    expect(processesBelow(machine.dir)).toEqual([]);
    await give(handler, version, { state: 'uninstall', sequenceNumber: 3 });
    await heard('removed');
    expect(existsSync(join(machine.dir, 'handlers', `${handler}-${version}`))).toBe(false);
  });
});

test('AZ-C3 protected settings are stored only encrypted; the handler decrypts them with the key that it finds by thumbprint', async () => {
  const password = 'correct horse battery';
  const publicSettings = { server: 'files.example.net', user: 'backup' };
  await give('Northwind.Storage.Mount', '2.0.0.0', { settings: { publicSettings, ...seal({ password }) } });
  await machine.start();
  await heard('enabled');
  const status = await machine.portal.until('mounted', () => lastStatus(1, 'success'));
  expect(status.message).toEqual({ id: 'share_mounted', params: ['files.example.net', 'backup'] });
  expect(execFileSync('/bin/sh', ['-c', `grep -rlF '${password}' '${machine.dir}' || true`]).toString()).toBe('');
  expect(JSON.stringify(machine.portal.reports)).not.toContain(password);
  const folder = join(machine.dir, 'certificates');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) {
    expect(name).toMatch(/^[0-9A-F]{40}\.(crt|prv)$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
});

test('the mount fails with exit code 51 and message 1215 when its server is not responding', async () => {
  const publicSettings = { server: 'spo-sqldb.cloudapp.net', user: 'JoeAdmin', reachable: false };
  await give('Northwind.Storage.Mount', '2.0.0.0', { settings: { publicSettings, ...seal({ password: 'secret' }) } });
  await machine.start();
  expect(await heard('failed')).toMatchObject({ command: 'enable', exitCode: 51 });
  const status = await machine.portal.until('its status', () => lastStatus(1, 'error'));
  expect(status.message).toEqual({ id: '1215', params: ['spo-sqldb.cloudapp.net', 'JoeAdmin'] });
});

longTest('the probe keeps its count through an update', async () => {
  await give('Acme.Lab.Probe', '1.0.0.0', { settings: { publicSettings: { target: 'a' } } });
  await machine.start();
  await heard('enabled');
  await give('Acme.Lab.Probe', '1.1.0.0', { sequenceNumber: 2, settings: { publicSettings: { target: 'a' } } });
  const status = await machine.portal.until('its status', () => lastStatus(2, 'success'));
  expect(status.message).toEqual({ id: 'probe_watching', params: ['a', '2'] });
  expect(status.substatus.map(({ name }) => name)).toEqual(['target', 'latency']);
  await give('Acme.Lab.Probe', '1.1.0.0', { sequenceNumber: 3, state: 'disabled' });
  await heard('disabled');
  expect(processesBelow(machine.dir)).toEqual([]);
});
