import { execFileSync } from 'node:child_process';
import { verify } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { enroll } from './commands/enroll.ts';
import { openCaller } from './portal/call.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { sealedFor, thumbprintsIn } from './testing/seal.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const secret = { password: 'swordfish' };
const settingsFile = () => join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0', 'config', '1.settings');
const settings = () => JSON.parse(readFileSync(settingsFile(), 'utf8')).handlerSettings;
const identity = () => JSON.parse(readFileSync(join(machine.dir, 'agent.json'), 'utf8'));
const goalWith = (thumbprint: string) => [
  { ...echo, name: 'echo', settings: { publicSettings: {}, ...sealedFor(machine.dir, secret, thumbprint) } },
];
const untilEnabled = () =>
  machine.portal.until('enabled', () =>
    machine.portal.reports.some(({ handlers }) => handlers.some(({ state }) => state === 'enabled')),
  );

test('AZ-C3 a new key is authorized by the old one, settings are rewritten and no handler runs', async () => {
  const [old = ''] = thumbprintsIn(machine.dir);
  const oldCertificate = readFileSync(join(machine.dir, 'certificates', `${old}.crt`));
  await machine.addHandler(echo);
  machine.portal.setGoal(goalWith(old));
  const agent = await machine.start();
  await untilEnabled();
  await agent.renewKey();
  const { thumbprint } = identity();
  expect(thumbprint).not.toBe(old);
  const { certificate, proof } = machine.portal.renewals[0] ?? { certificate: '', proof: '' };
  expect(verify('sha256', Buffer.from(certificate), oldCertificate, Buffer.from(proof, 'base64'))).toBe(true);
  expect(certificate).toBe(readFileSync(join(machine.dir, 'certificates', `${thumbprint}.crt`), 'utf8'));
  expect(statSync(join(machine.dir, 'certificates', `${thumbprint}.prv`)).mode & 0o777).toBe(0o600);
  // The current settings still need the old key.
  expect(thumbprintsIn(machine.dir)).toEqual([old, thumbprint].sort());
  machine.portal.setGoal(goalWith(thumbprint));
  await machine.until('the old key is gone', () => thumbprintsIn(machine.dir).length === 1);
  expect(settings().protectedSettingsCertThumbprint).toBe(thumbprint);
  const key = join(machine.dir, 'certificates', `${thumbprint}.prv`);
  const opened = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], {
    input: Buffer.from(settings().protectedSettings, 'base64'),
  });
  expect(JSON.parse(opened.toString())).toEqual(secret);
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable']);
});

test('a secret is masked in the status of a handler that has emptied its settings files', async () => {
  const script = `[ "$1" = enable ] || exit 0
: > config/1.settings
echo '[{"version":1.0,"timestampUTC":"2026-01-01T00:00:00Z","status":{"status":"success","formattedMessage":{"lang":"en","message":"The password is swordfish."}}}]' > status/1.status`;
  const [thumbprint = ''] = thumbprintsIn(machine.dir);
  await machine.addHandler({ ...echo, script });
  machine.portal.setGoal(goalWith(thumbprint));
  await machine.start();
  const file = await machine.portal.until(
    'the status',
    () =>
      machine.portal.reports.flatMap(({ statuses }) => statuses).find(({ sequenceNumber }) => sequenceNumber === 1)
        ?.file,
  );
  expect(readFileSync(settingsFile(), 'utf8')).toBe('');
  expect(JSON.stringify(file)).toContain('The password is [masked].');
});

describe('copies of the key where handlers look for it', () => {
  const copies = (folder: string) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => /^[0-9A-F]{40}/.test(name)) : [];
  const handlers = () => join(machine.dir, 'handlers');
  let waagentFolder: string;
  beforeEach(() => {
    waagentFolder = join(machine.dir, '..', 'waagent');
  });

  test('exist while settings need them, readable only by the agent, and are deleted with them', async () => {
    const [thumbprint = ''] = thumbprintsIn(machine.dir);
    await machine.addHandler(echo);
    machine.portal.setGoal(goalWith(thumbprint));
    await machine.start({ waagentFolder });
    await untilEnabled();
    for (const folder of [handlers(), waagentFolder]) {
      expect(copies(folder)).toEqual([`${thumbprint}.crt`, `${thumbprint}.prv`]);
      for (const name of copies(folder)) {
        expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
        expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(machine.dir, 'certificates', name)));
      }
    }
    const [goal] = goalWith(thumbprint);
    machine.portal.setGoal([{ ...echo, ...goal, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
    await machine.until('they are gone', () => copies(handlers()).length + copies(waagentFolder).length === 0);
    // The agent created the folder, so the agent deletes it once the folder is empty.
    await machine.until('the folder is gone', () => !existsSync(waagentFolder));
    expect(thumbprintsIn(machine.dir)).toEqual([thumbprint]);
  });

  test('are deleted once the agent is no longer configured to place them', async () => {
    const [thumbprint = ''] = thumbprintsIn(machine.dir);
    await machine.addHandler(echo);
    machine.portal.setGoal(goalWith(thumbprint));
    await machine.start({ waagentFolder });
    await untilEnabled();
    await machine.stop();
    await machine.start();
    await machine.until('they are gone', () => copies(waagentFolder).length === 0);
    expect(copies(handlers())).toHaveLength(2);
  });

  test('do not replace or delete other agents’ files, and are not placed where other users could take them', async () => {
    const [thumbprint = ''] = thumbprintsIn(machine.dir);
    await machine.addHandler(echo);
    mkdirSync(waagentFolder, { mode: 0o700 });
    writeFileSync(join(waagentFolder, `${thumbprint}.prv`), 'of another agent');
    machine.portal.setGoal(goalWith(thumbprint));
    await machine.start({ waagentFolder });
    await untilEnabled();
    const [goal] = goalWith(thumbprint);
    machine.portal.setGoal([{ ...echo, ...goal, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
    await machine.until('they are gone', () => copies(handlers()).length === 0);
    expect(readFileSync(join(waagentFolder, `${thumbprint}.prv`), 'utf8')).toBe('of another agent');
    await machine.stop();

    rmSync(waagentFolder, { recursive: true });
    mkdirSync(waagentFolder);
    chmodSync(waagentFolder, 0o777);
    machine.portal.setGoal(goalWith(thumbprint));
    const agent = await machine.start({ waagentFolder });
    await agent.lane.whenIdle();
    expect(copies(waagentFolder)).toEqual([]);
    expect(machine.lines.join('\n')).toContain('only the agent');
  });
});

test('a renewal whose response was lost continues with the same key at the next start', async () => {
  machine.portal.away = true;
  const agent = await machine.start();
  await agent.renewKey();
  const { thumbprint, nextThumbprint } = identity();
  expect(machine.lines.join('\n')).toContain('The old one is still used');
  await machine.stop();
  machine.portal.away = false;
  await machine.start();
  await machine.until('the renewal', () => identity().thumbprint !== thumbprint);
  expect(identity()).toMatchObject({ thumbprint: nextThumbprint, nextThumbprint: null });
  expect(machine.portal.renewals).toHaveLength(1);
});

test('two concurrent renewals result in one key', async () => {
  const agent = await machine.start();
  await Promise.all([agent.renewKey(), agent.renewKey()]);
  expect(machine.portal.renewals).toHaveLength(1);
  const { thumbprint, nextThumbprint } = identity();
  expect(nextThumbprint).toBeNull();
  const certificate = readFileSync(join(machine.dir, 'certificates', `${thumbprint}.crt`), 'utf8');
  expect(machine.portal.renewals[0]?.certificate).toBe(certificate);
});

longTest('a copied machine that the portal rejects logs what to do, and its handlers keep running', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await untilEnabled();
  await machine.stop();
  machine.portal.refuse = { status: 409, code: 'duplicate_agent' };
  const agent = await machine.start();
  await agent.lane.whenIdle();
  await machine.until('the advice', () => machine.lines.some((line) => line.includes('enroll --again')));
  expect(machine.calls().at(-1)).toBe('Echo-1.0.0.0 enable');
});

test('a machine that enrolls again has a new key and call count, and keeps its handlers', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await untilEnabled();
  await machine.stop();
  const before = identity();
  const counted = JSON.parse(readFileSync(join(machine.dir, 'state', 'calls.json'), 'utf8'));
  const call = openCaller({ environment: {} });
  const options = { portal: machine.portal.url, token: 'another', dir: machine.dir, call };
  await expect(enroll(options, () => {})).rejects.toThrow('is enrolled at');
  // If the enrollment is rejected or gets no response, the machine keeps its identity.
  machine.portal.away = true;
  await expect(enroll({ ...options, again: true }, () => {})).rejects.toThrow('did not respond');
  expect(identity()).toMatchObject({ vmId: before.vmId, thumbprint: before.thumbprint });
  machine.portal.away = false;
  await enroll({ ...options, again: true }, () => {});
  expect(identity().thumbprint).not.toBe(before.thumbprint);
  expect(readdirSync(join(machine.dir, 'certificates')).filter((name) => name.endsWith('.prv'))).toHaveLength(2);
  await machine.start();
  await machine.until('enabled again', () => machine.calls().length === 3);
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable', 'Echo-1.0.0.0 enable']);
  expect(JSON.parse(readFileSync(join(machine.dir, 'state', 'calls.json'), 'utf8')).instance).not.toBe(
    counted.instance,
  );
});
