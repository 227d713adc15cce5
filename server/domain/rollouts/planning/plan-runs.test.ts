import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { agents, executions, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { bindChannel, setExecutionRules } from '#server/domain/executions/index.ts';
import { uploadRunbookFile } from '#server/domain/runbook-files/testing/upload.ts';
import { withdrawRunbookVersion } from '#server/domain/runbooks/index.ts';
import { givenRunbook, greeting } from '#server/domain/runbooks/testing/given-runbook.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  approveRollout,
  createRollout,
  getRollout,
  getRolloutPlan,
  planRollout,
  requestPlan,
  startRollout,
  updateRollout,
} from '../index.ts';
import type { DefinitionInput } from '../read-definition.ts';
import { openGiven } from '../secrets.ts';
import { rowOf } from '../testing/given-draft.ts';
import { asPerson } from '../testing/given-rollout.ts';
import type { PlanServices } from './snapshot.ts';

let services: PlanServices;
let ctx: Context;
let admin: Context;
let runbook: string;
let fleet: GivenVm[];

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  const { settings } = services.config.limits;
  const limits = { ...services.config.limits, settings: { ...settings, checkMs: 60_000 } };
  services = { ...services, config: { ...services.config, limits } };
  ctx = await testContext({ services, role: 'operator' });
  admin = await testContext({ services, role: 'admin' });
  runbook = (await givenRunbook(admin)).name;
  fleet = [];
  for (const name of ['new', 'plain', 'stock', 'off', 'murano', 'other']) fleet.push(await givenVm(services, name));
  const vm = (name: string) => fleet.find((one) => one.name.startsWith(name))?.vmId ?? '';
  await enroll(vm('plain'), {});
  await enroll(vm('stock'), { kind: 'stock' });
  await enroll(vm('off'), {
    platforms: { platforms: { Application: { version: '1.0.0' } }, python: null, executionPlans: 'off' },
  });
  await enroll(vm('other'), { platforms: { platforms: {}, python: null, executionPlans: 'on' } });
  await bindChannel(admin, { vmId: vm('murano'), dialect: 'murano' });
});

const enroll = (vmId: string, values: Partial<typeof agents.$inferInsert>) =>
  services.db.insert(agents).values({
    ...{ vmId, credentialHash: randomUUID(), keyHash: randomUUID(), certificate: '', thumbprint: '' },
    ...{ name: 'agent', version: '1.0.0', os: {} as never, enrolledAt: new Date() },
    ...values,
  });

const create = (change: object = {}, more: object = {}) =>
  createRollout(ctx, {
    ...{ name: 'Greet everyone', select: { ids: fleet.map(({ vmId }) => vmId) } },
    change: { kind: 'run', runbook, parameters: { who: 'w' }, ...change },
    ...more,
  } as DefinitionInput);

async function plan(id: string) {
  await requestPlan(ctx, { id });
  await planRollout(services, id);
  return rowOf(services, id);
}

describe('the change', () => {
  test('gets the newest published version and its time limits', async () => {
    const { definition } = await create({}, { strategy: 'automatic' });
    expect(definition).toMatchObject({
      change: { kind: 'run', runbook, version: '1.0.0', parameters: { who: 'w' }, timeoutSeconds: 3_600 },
      ...{ silent: 'wait', onStepFailure: 'leave', onHalt: 'pause' },
      rings: [{ gates: { soakSeconds: 0, compare: null } }, {}, {}],
    });
  });

  test.each<[object, string]>([
    [{ runbook: null }, '/change/runbook field_missing'],
    [{ runbook: 'no-such-runbook' }, '/change/runbook runbook_unknown'],
    [{ version: '9.0.0' }, '/change/version runbook_version_unknown'],
    [{ version: 'latest' }, '/change/version runbook_version_form'],
    [{ parameters: {} }, '/change/parameters/who setting_required'],
    [{ parameters: { who: 'w', token: 'x' } }, '/change/parameters/token parameter_secret'],
    [{ handler: 'Acme.Lab.Probe' }, '/change/handler change_field_unused'],
    [{ timeoutSeconds: 0 }, '/change/timeoutSeconds field_too_small'],
  ])('%j is rejected: %s', async (change, fault) => {
    expect((await outcomeOf(create(change))).split('; ')).toContain(fault);
  });

  test('drafts and withdrawn versions are rejected', async () => {
    const { name } = await givenRunbook(admin, { draft: true });
    const scripts = await testContext({ services, role: 'admin' });
    const run = { kind: 'run', runbook: name, parameters: { who: 'w' } };
    const given = { name: 'Greet', select: { all: true }, change: { ...run, version: '1.0.0' } } as DefinitionInput;
    expect(await outcomeOf(createRollout(scripts, given))).toContain('/change/version runbook_not_published');
    const withdrawn = await givenRunbook(admin);
    await withdrawRunbookVersion(admin, { ...withdrawn, reason: 'broken' });
    const change = { runbook: withdrawn.name, version: '1.0.0' };
    expect(await outcomeOf(create(change))).toContain('/change/version runbook_withdrawn');
  });

  test.each([
    [{ silent: 'declare' }, '/silent'],
    [{ onStepFailure: 'revert' }, '/onStepFailure'],
    [{ onHalt: 'revert' }, '/onHalt'],
    [{ gates: { compare: {} } }, '/gates/compare'],
    [{ rings: [{ name: 'all', gates: { compare: {} } }] }, '/rings/0/gates/compare'],
  ])('a run has no use for %j', async (more, path) => {
    expect((await outcomeOf(create({}, more))).split('; ')).toContain(`${path} change_field_unused`);
  });

  test('other changes have no use for what a run says', async () => {
    const change = { kind: 'remove', handler: 'Acme.Lab.Probe', runbook, parameters: {}, secretParameters: {} };
    const faults = (await outcomeOf(create(change))).split('; ').slice(1);
    expect(faults).toEqual(
      ['runbook', 'parameters', 'secretParameters'].map((f) => `/change/${f} change_field_unused`),
    );
  });

  test('RO-39 secret parameters are sealed, kept by an edit, never returned, and rejected with custody by the VM', async () => {
    const made = await create({ secretParameters: { token: 'hunter2' } });
    expect(JSON.stringify(made)).not.toContain('hunter2');
    expect(made.secretParameters).toEqual(['token']);
    const definition = { ...made.definition, name: 'Renamed' };
    await updateRollout(ctx, { id: made.id, revision: made.revision, definition });
    const row = await rowOf(services, made.id);
    expect(openGiven(ctx, row)).toEqual({ token: 'hunter2' });
    expect(JSON.stringify(row.definition)).not.toContain('hunter2');
    const strict = { ...ctx, config: { ...ctx.config, custody: 'vm' as const } };
    const change = { kind: 'run', runbook, parameters: { who: 'w' }, secretParameters: { token: 'hunter2' } };
    const refused = createRollout(strict, { name: 'Greet', select: { all: true }, change } as DefinitionInput);
    expect(await outcomeOf(refused)).toContain('/change/secretParameters secrets_custody');
  });
});

describe('RO-4 the plan', () => {
  test('counts the VMs that would reject the execution by the code that one VM would give', async () => {
    const { plan: made } = await plan((await create()).id);
    expect(made).toMatchObject({ matched: 6, members: 3, unchanged: 0, kinds: { run: 3 }, notRevertible: { run: 3 } });
    const counts = Object.entries(made?.refused ?? {}).map(([code, { count }]) => `${code} ${count}`);
    expect(counts.sort()).toEqual(['agent_without_executions 1', 'executions_off 1', 'plan_invalid 1']);
    expect(made?.rings.at(-1)?.longestSeconds).toBe(3_600);
    expect(await services.db.$count(executions)).toBe(0);
  });

  test('RO-35 a window that is shorter than the timeout is rejected', async () => {
    const windows = [{ days: ['mon'], from: '10:00', to: '10:30', timeZone: 'UTC' }];
    const { state, why } = await plan((await create({}, { windows })).id);
    expect([state, why[0]?.params?.cause]).toEqual(['draft', 'window_too_short']);
  });

  test('fixes the contents of the runbook’s files, and does not show them', async () => {
    const runbookFile = `tool-${randomUUID()}`;
    const { file } = await uploadRunbookFile(admin, runbookFile, 'as planned');
    const files = { f1: { Name: 'hello.sh', BodyType: 'ID', Body: runbookFile } };
    const own = await givenRunbook(admin, { plan: { ...greeting, Files: files } });
    const row = await plan((await create({ runbook: own.name })).id);
    expect(row.plan?.files).toEqual([{ file: 'f1', runbookFile, sha256: file.sha256, size: file.size }]);
    expect(await getRolloutPlan(ctx, { id: row.id })).not.toHaveProperty('files');
  });

  test('a version that is withdrawn before the plan cannot be planned', async () => {
    const other = await givenRunbook(admin, { plan: greeting });
    const { id } = await create({ runbook: other.name });
    await withdrawRunbookVersion(admin, { ...other, reason: 'broken' });
    const { state, why } = await plan(id);
    expect([state, why[0]?.params?.cause]).toEqual(['draft', 'runbook_withdrawn']);
  });

  test('a rule that asks for an approval of every execution asks for one approval of the plan', async () => {
    await setExecutionRules(admin, { approval: 'all' });
    const { id, planHash } = await plan((await create()).id);
    await setExecutionRules(admin, { approval: 'none' });
    expect(await outcomeOf(startRollout(ctx, { id, plan: planHash ?? '' }))).toBe('conflict approval_missing');
    const person = asPerson(await testContext({ services, role: 'operator' }), 'second');
    await approveRollout(person, { id, plan: planHash ?? '' });
    expect((await startRollout(ctx, { id, plan: planHash ?? '' })).state).toBe('checking');
    await services.db.update(rollouts).set({ state: 'aborted', endedAt: new Date() }).where(eq(rollouts.id, id));
  });

  test('RO-14 runs overlap with no other rollout', async () => {
    const first = await plan((await create()).id);
    await startRollout(ctx, { id: first.id, plan: first.planHash ?? '' });
    expect((await plan((await create()).id)).plan?.overlaps).toEqual([]);
    expect((await getRollout(ctx, { id: first.id })).change).toMatchObject({ kind: 'run', runbook, version: '1.0.0' });
  });
});
