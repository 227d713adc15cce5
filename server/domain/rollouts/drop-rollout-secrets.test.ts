import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditEntries, extensions, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { dropRolloutSecrets, planRollout, requestPlan, resumeRollout, updateRollout } from './index.ts';
import { sealGiven } from './secrets.ts';
import { showRollout } from './show-rollout.ts';
import { givenRollout, rowOf } from './testing/given-rollout.ts';
import { type RolloutStage, rolloutStage } from './testing/rollout-stage.ts';

let stage: RolloutStage;
const inVm = (seconds: number): Context => {
  const ctx = stage.as(seconds);
  return { ...ctx, config: { ...ctx.config, custody: 'vm' } };
};

beforeAll(async () => {
  stage = await rolloutStage();
});

test('RO-39 with ANNEX_CUSTODY=vm, an open rollout loses its protected settings and pauses', async () => {
  const vms = await stage.givenFleet(2);
  const id = await stage.givenRollout(vms, {
    ...{ change: { protectedSettings: 'given' }, rings: [{ size: 2, inFlight: { count: 1 } }] },
    ...{ kind: 'rollout', retry: { times: 0, afterSeconds: 60, causes: ['exit'] } },
  });
  const of = { id, change: { kind: 'set' as const } };
  const sealed = await stage.db.transaction((tx) => sealGiven(tx, stage.operator, of, { password: 'hush' }));
  await stage.db.update(rollouts).set(sealed);
  await stage.pass(1);
  const [begun] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  await begun.deliver(stage.at(2));

  expect(await dropRolloutSecrets(stage.as(3))).toBe(0);
  expect(await dropRolloutSecrets(inVm(3))).toBe(1);
  expect(await dropRolloutSecrets(inVm(3))).toBe(0);
  await stage.pass(4);
  expect(await stage.rollout(id)).toMatchObject({
    ...{ sealed: null, state: 'paused', pausedBy: 'portal' },
    why: [{ code: 'secrets_custody' }],
  });
  expect(await outcomeOf(resumeRollout(inVm(5), { id }))).toBe('conflict rollout_secrets_gone');
  const { definition, revision } = await showRollout(inVm(5), id);
  await updateRollout(inVm(5), { id, revision, definition: { ...definition, name: 'without secrets' } });
  await stage.report(begun, 6);
  await stage.look(7);
  expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, queued: 1 });
  const [untouched] = vms.filter((vm) => vm !== begun) as [GivenVm];
  const versions = await stage.db.select().from(extensions).where(eq(extensions.vmId, untouched.vmId));
  expect(versions).toMatchObject([{ version: '1.0.0.0' }]);
  const acts = await readActs(stage.db, eq(auditEntries.action, 'secrets.drop-copies'));
  expect(acts).toMatchObject([{ details: { secrets: 1, tenantKeys: 0, rollouts: [id] } }]);
});

test('RO-39 with ANNEX_CUSTODY=vm, a draft cannot be planned with the settings that it lost, but without them', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const change = { kind: 'set' as const, handler: 'Acme.Lab.Probe', version: '1.1.0.0' };
  const definition = { name: 'with a secret', select: { ids: [vm.vmId] }, change };
  const secret = { ...definition, change: { ...change, protectedSettings: { password: 'hush' } } };
  const { id } = await givenRollout(stage.operator, { definition: { ...secret, rings: undefined } });
  expect(await dropRolloutSecrets(inVm(1))).toBe(1);
  const plan = async () => {
    await requestPlan(stage.as(2), { id });
    await planRollout(stage.services, id);
    return rowOf(stage.operator, id);
  };
  const failed = { code: 'plan_failed', params: { cause: 'rollout_secrets_gone' } };
  expect(await plan()).toMatchObject({ state: 'draft', why: [failed] });
  const view = await updateRollout(stage.as(3), { id, revision: 1, definition });
  expect(view.hasProtectedSettings).toBe(false);
  expect(await plan()).toMatchObject({ state: 'planned', members: 1 });
});
