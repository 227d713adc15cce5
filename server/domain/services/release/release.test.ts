import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditEntries, type Role, units, users } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { renewToken } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import {
  getDue,
  getService,
  getUnit,
  getUnitSettings,
  readUnitConcerns,
  releaseServiceSecrets,
  releaseUnitSecrets,
  removeUnit,
  setService,
} from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let ada: Context;
let eve: Context;
let root: Context;
let blog: { formula: string; version: string };

async function givenMember(id: string, role: Role): Promise<Context> {
  await stage.ctx.db.insert(users).values({ id, name: id, email: `${id}@example.test`, role });
  return testContext({ actor: { kind: 'user', id, name: id, role, namespaces: [] }, services: stage.ctx });
}

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  ada = await givenMember('ada', 'operator');
  eve = await givenMember('eve', 'operator');
  root = await givenMember('root', 'admin');
  blog = await stage.formula('blog');
});

const protectedSettings = { password: 'hunter2' };
const named = (service: string) => ({ model: sets.model, service });
const unitOf = (unit: string) => ({ model: sets.model, unit });

/** Deploys a service of one unit; each actor issues what the test needs. */
async function deployed(service: string, by: { deploys: Context; enrolls: Context; settings?: object }) {
  const request = { ...named(service), ...blog, ...(by.settings ?? { protectedSettings }) };
  const { newUnits } = await setService(by.deploys, request, sets.provider);
  const [machine] = newUnits.map((added) => added.machine);
  if (!machine) throw new Error('a machine was created');
  const { enrollmentToken } = await renewToken(by.enrolls, { vmId: machine.vmId });
  await stage.enroll({ ...machine, enrollmentToken });
  return { machine, vmId: machine.vmId, unit: { unit: `${service}/0`, vmId: machine.vmId } };
}

const readProtected = (vmId: string, unit: string) =>
  getUnitSettings(stage.ctx, vmId, unit).then(
    ({ protectedSettings: sealed }) => (sealed === undefined ? 'none' : 'sealed'),
    ({ code }: { code: string }) => code,
  );

test('a unit on a machine enrolled with another person’s token waits until an admin releases its protected settings', async () => {
  const { vmId } = await deployed('shop', { deploys: ada, enrolls: eve });
  expect(await stage.look(vmId)).toMatchObject([{ unit: 'shop/0', needsRelease: true }]);
  expect(await readProtected(vmId, 'shop/0')).toBe('unit_needs_release');
  expect(await getUnit(stage.viewer, unitOf('shop/0'))).toMatchObject({
    ...{ needsRelease: true, enrolledBy: 'eve', thumbprint: expect.any(String) },
  });
  expect(await getService(stage.viewer, named('shop'))).toMatchObject({ needsRelease: 1 });
  const { items } = await getDue(stage.viewer, unitOf('shop/0'));
  expect(items.map(({ hook, waitsFor }) => `${hook} ${waitsFor}`)).toContain('install release');

  for (const operator of [ada, eve]) {
    await expect(releaseUnitSecrets(operator, unitOf('shop/0'))).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(releaseServiceSecrets(operator, named('shop'))).rejects.toMatchObject({ kind: 'forbidden' });
  }
  const other = releaseUnitSecrets(root, { ...unitOf('shop/0'), thumbprint: 'A'.repeat(40) });
  await expect(other).rejects.toMatchObject({ kind: 'precondition_failed', code: 'key_changed' });

  const { thumbprint } = await getUnit(root, unitOf('shop/0'));
  const input = { ...unitOf('shop/0'), thumbprint: thumbprint ?? '' };
  expect(await releaseUnitSecrets(root, input)).toEqual({ released: [{ unit: 'shop/0', vmId, thumbprint }] });
  expect((await stage.look(vmId))[0]).not.toHaveProperty('needsRelease');
  expect(await readProtected(vmId, 'shop/0')).toBe('sealed');
  expect(await getService(stage.viewer, named('shop'))).toMatchObject({ needsRelease: 0 });
  expect(await releaseUnitSecrets(root, input), 'again').toEqual({ released: [] });
  const acts = await stage.ctx.db
    .select({ actorName: auditEntries.actorName, details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.vmId, vmId), eq(auditEntries.action, 'unit.release-secrets')));
  expect(acts).toEqual([{ actorName: 'root', details: { unit: 'shop/0', thumbprint } }]);
});

test.each<[string, () => { deploys: Context; enrolls: Context }]>([
  ['the same person', () => ({ deploys: ada, enrolls: ada })],
  ['an admin', () => ({ deploys: ada, enrolls: root })],
])('a machine enrolled by %s gets the protected settings', async (who, by) => {
  const service = who === 'an admin' ? 'trusted' : 'mine';
  const { vmId } = await deployed(service, by());
  expect(await readProtected(vmId, `${service}/0`)).toBe('sealed');
  expect(await getUnit(stage.viewer, unitOf(`${service}/0`))).toMatchObject({ needsRelease: false });
});

test('protected settings that an unknown person entered wait for a release', async () => {
  const { vmId } = await deployed('unknown', { deploys: ada, enrolls: ada });
  await stage.ctx.db.execute(`update service_settings set secret_set_by = null
    where service_id = (select service_id from units where vm_id = '${vmId}')`);
  expect(await stage.look(vmId)).toMatchObject([{ needsRelease: true }]);
  expect(await readProtected(vmId, 'unknown/0')).toBe('unit_needs_release');
});

test('without protected settings, no unit waits', async () => {
  const { vmId } = await deployed('open', { deploys: ada, enrolls: eve, settings: { settings: {} } });
  expect(await readProtected(vmId, 'open/0')).toBe('none');
});

test('the VM of a unit that waits is degraded, and a unit that leaves does not wait', async () => {
  const { vmId } = await deployed('ill', { deploys: ada, enrolls: eve });
  await stage.ctx.db.execute(
    `insert into agent_presence (vm_id, last_seen_at, next_expected_at) values ('${vmId}', now(), now() + interval '1 h')`,
  );
  const concern = () => stage.ctx.db.transaction((tx) => readUnitConcerns(tx, [vmId], new Date()));
  expect((await concern()).get(vmId)).toMatchObject({
    concern: { subject: 'ill/0', health: 'degraded', cause: 'release', command: null },
    changesAt: null,
  });
  await removeUnit(ada, unitOf('ill/0'));
  expect(await stage.look(vmId)).toMatchObject([{ goal: 'leaving' }]);
  expect((await stage.look(vmId))[0]).not.toHaveProperty('needsRelease');
  expect((await concern()).get(vmId)).toMatchObject({ concern: { cause: 'waiting' } });
});

test('a unit that has started keeps its settings, and gets the withheld ones when they are released', async () => {
  const { vmId, unit } = await deployed('later', { deploys: ada, enrolls: eve, settings: { settings: {} } });
  await stage.start(unit);
  await setService(ada, { ...named('later'), ...blog, protectedSettings }, sets.provider);
  expect(await stage.look(vmId)).toMatchObject([{ settingsVersion: 1 }]);
  expect((await stage.look(vmId))[0]).not.toHaveProperty('needsRelease');
  expect(await getUnit(stage.viewer, unitOf('later/0'))).toMatchObject({ needsRelease: true, stage: 'started' });
  const { released } = await releaseServiceSecrets(root, named('later'));
  expect(released).toMatchObject([{ unit: 'later/0' }]);
  expect(await stage.look(vmId)).toMatchObject([{ settingsVersion: 2 }]);
  await setService(ada, { ...named('later'), ...blog, protectedSettings: { password: 'other' } }, sets.provider);
  await stage.run(unit, 'config-changed');
  expect(await stage.look(vmId), 'a release holds for later settings').toMatchObject([{ settingsVersion: 3 }]);
  expect(await readProtected(vmId, 'later/0')).toBe('sealed');
});

test('a release ends when another machine enrolls', async () => {
  const { machine, vmId } = await deployed('moved', { deploys: ada, enrolls: eve });
  await releaseServiceSecrets(root, named('moved'));
  const { enrollmentToken } = await renewToken(eve, { vmId });
  await stage.enroll({ ...machine, enrollmentToken });
  expect(await stage.look(vmId)).toMatchObject([{ unit: 'moved/1', needsRelease: true }]);
});

test('a release before the machine’s first look does not apply to another machine', async () => {
  const { machine, vmId } = await deployed('unseen', { deploys: ada, enrolls: eve });
  await releaseServiceSecrets(root, named('unseen'));
  await stage.ctx.db.update(units).set({ agentSince: null, machineEnrolledAt: null }).where(eq(units.vmId, vmId));
  const { enrollmentToken } = await renewToken(eve, { vmId });
  await stage.enroll({ ...machine, enrollmentToken });
  expect(await stage.look(vmId)).toMatchObject([{ unit: 'unseen/0', needsRelease: true }]);
});

test('changing other settings does not release protected settings that another person entered', async () => {
  const { vmId } = await deployed('kept', { deploys: ada, enrolls: eve });
  await setService(eve, { ...named('kept'), ...blog, settings: { title: 'Mine' } }, sets.provider);
  expect(await readProtected(vmId, 'kept/0')).toBe('unit_needs_release');
  await setService(eve, { ...named('kept'), ...blog, protectedSettings: { password: 'mine' } }, sets.provider);
  expect(await readProtected(vmId, 'kept/0')).toBe('sealed');
});
