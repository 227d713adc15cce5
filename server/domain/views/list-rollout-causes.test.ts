import { beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { setResources } from '#server/domain/localization/index.ts';
import type { StepFailure } from '#server/domain/rollout-rules/stored.ts';
import { givenMachines } from '#server/domain/rollouts/testing/given-machines.ts';
import { givenRollout, givenStep } from '#server/domain/rollouts/testing/given-rollout.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { listRolloutCauses } from './index.ts';

const handler = 'Acme.Lab.Probe';
let ctx: Context;
let id: string;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  await givenVersion(ctx.db, { version: '1.1.0.0' });
  const admin = await testContext({ services: ctx });
  for (const [lang, text] of [
    ['en', 'Port {0} is already in use'],
    ['de', 'Port {0} wird bereits verwendet'],
  ] as const) {
    const file = [{ version: 1.0, lang, messages: [{ id: 'port_in_use', text }] }];
    await setResources(admin, { handler, version: '1.1.0.0', lang, file });
  }
  ({ id } = await givenRollout(ctx, { state: 'paused' }));
  const machines = await givenMachines(ctx, 5);
  const failure: StepFailure = {
    ...{ extension: 'probe', handler, version: '1.1.0.0', command: 'enable', exitCode: 12, messageId: 'port_in_use' },
  };
  for (const [place, { vmId }] of machines.entries()) {
    const terms =
      place === 4
        ? { cause: 'unsteady' }
        : place === 3
          ? { cause: 'exit', failure: { ...failure, exitCode: 51, messageId: null } }
          : { cause: 'exit', failure };
    await givenStep(ctx, { rolloutId: id, vmId, place, state: 'failed', ...terms });
  }
});

const list = async (acceptLanguage: string) =>
  (await listRolloutCauses(await testContext({ services: ctx, role: 'viewer' }), { id, acceptLanguage })).items;

test('causes have the message of the handler in the language of the reader', async () => {
  expect(await list('en')).toMatchObject([
    {
      ...{ vms: 3, cause: 'exit', handler, extension: 'probe', command: 'enable', exitCode: 12 },
      message: { text: 'Port … is already in use', lang: 'en' },
    },
    { vms: 1, exitCode: 51, message: null },
    { vms: 1, cause: 'unsteady', handler: null, command: null, message: null },
  ]);
  expect((await list('de'))[0]?.message).toEqual({ text: 'Port … wird bereits verwendet', lang: 'de' });
});

test('a rollout that does not exist is unknown, and an unknown kind of group is rejected', async () => {
  const viewer = await testContext({ services: ctx, role: 'viewer' });
  const unknown = '00000000-0000-4000-8000-000000000000';
  expect(await outcomeOf(listRolloutCauses(viewer, { id: unknown }))).toBe('not_found rollout_unknown');
  expect(await outcomeOf(listRolloutCauses(viewer, { id, of: 'skipped' as never }))).toContain('/of');
});
