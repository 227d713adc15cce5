import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type RolloutState, rolloutKinds, rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { getRollout, listRollouts, removeRollout, requestPlan, retryRollout, updateRollout } from './index.ts';
import { openGiven } from './secrets.ts';
import { activityOf, asPerson, givenRollout, probeDefinition, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const subjects = ['failed', 'unreached', 'skipped'] as const;
const started: RolloutState[] = ['scheduled', 'running', 'paused', 'keeping', 'aborting', 'aborted', 'finished'];
const secret = { ...probeDefinition.change, protectedSettings: { password: 'hunter2' } };

describe.each(subjects)('a retry of the %s members', (of) => {
  test('is a separate draft that selects them, and names the rollout it follows', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const before = await rowOf(ctx, id);
    const retry = await retryRollout(asPerson(ctx, 'ada'), { id, of });
    expect(retry).toMatchObject({ state: 'draft', kind: 'rollout', revision: 1, of: id, createdBy: 'ada', plan: null });
    expect(retry.name).toBe(`probe 1.1 in production (${of})`);
    expect(retry.definition.select).toEqual({ include: { rollout: id, step: [of] } });
    expect(retry.rings.map(({ name, approval }) => [name, approval])).toEqual([
      ['canary', false],
      ['tenth', true],
      ['all', false],
    ]);
    expect(await rowOf(ctx, id)).toEqual(before);
    expect((await listRollouts(ctx, { of: id })).items.map((item) => item.id)).toEqual([retry.id]);
  });

  test.each(rolloutStates)('of a rollout in the state %s', async (state) => {
    const { id } = await givenRollout(ctx, { state });
    const outcome = await outcomeOf(retryRollout(ctx, { id, of }));
    expect(outcome).toBe(started.includes(state) ? 'done' : 'conflict rollout_state');
    expect((await listRollouts(ctx, { of: id })).items).toHaveLength(started.includes(state) ? 1 : 0);
  });

  test('can be edited, planned and deleted as any other draft, whatever kind of rollout it follows', async () => {
    for (const kind of rolloutKinds) {
      const { id } = await givenRollout(ctx, { state: 'finished', values: { kind } });
      const { id: retry, revision, definition } = await retryRollout(ctx, { id, of });
      const renamed = await updateRollout(ctx, { id: retry, revision, definition: { ...definition, name: 'again' } });
      expect(renamed).toMatchObject({ name: 'again', revision: 2, kind: 'rollout' });
      expect(renamed.definition).toEqual({ ...definition, name: 'again' });
      expect((await requestPlan(ctx, { id: retry })).state).toBe('planning');
      await removeRollout(ctx, { id: retry });
    }
  });

  test('has no newcomers and no start time, but the windows, gates and limits', async () => {
    const windows = [{ days: ['mon' as const], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' }];
    const definition = { windows, newcomers: 'include' as const, startAt: '2030-01-01T00:00:00Z', stepsPerSecond: 3 };
    const { id } = await givenRollout(ctx, { state: 'finished', definition });
    const retry = await retryRollout(ctx, { id, of });
    expect(retry.definition).toMatchObject({ windows, newcomers: 'ignore', startAt: null, stepsPerSecond: 3 });
    expect(retry.startAt).toBeNull();
  });
});

describe('what a retry declares', () => {
  test('for failed members: what they have, with a new sequence number', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished', definition: { change: secret } });
    const retry = await retryRollout(ctx, { id, of: 'failed' });
    expect(retry.change).toMatchObject({ kind: 'retry', handler: 'Acme.Lab.Probe', version: null, settings: false });
    expect(retry.hasProtectedSettings).toBe(false);
    expect((await rowOf(ctx, retry.id)).sealed).toBeNull();
  });

  test('for failed members of a removal: the removal', async () => {
    const change = { kind: 'remove' as const, handler: 'Acme.Lab.Probe' };
    const { id } = await givenRollout(ctx, { state: 'finished', definition: { change } });
    expect((await retryRollout(ctx, { id, of: 'failed' })).change.kind).toBe('remove');
  });

  test.each(['unreached', 'skipped'] as const)('for %s members: the change, with its secrets', async (of) => {
    const { id } = await givenRollout(ctx, { state: 'running', definition: { change: secret } });
    const retry = await retryRollout(ctx, { id, of });
    expect(retry.change).toMatchObject({ kind: 'set', version: '1.1.0.0', settings: true });
    const row = await rowOf(ctx, retry.id);
    expect(openGiven(ctx, row)).toEqual({ password: 'hunter2' });
    expect(row.sealed?.equals((await rowOf(ctx, id)).sealed ?? Buffer.alloc(0))).toBe(false);
    expect(JSON.stringify(retry)).not.toContain('hunter2');
  });

  test.each(['unreached', 'skipped'] as const)(
    'for %s members after the secrets were destroyed: nothing',
    async (of) => {
      const definition = { change: secret };
      const { id } = await givenRollout(ctx, { state: 'finished', definition, values: { sealed: null } });
      const outcome = await outcomeOf(retryRollout(ctx, { id, of }));
      expect(outcome).toBe('unprocessable secrets_required; /change/protectedSettings secrets_required');
      expect((await listRollouts(ctx, { of: id })).items).toEqual([]);
      expect(await outcomeOf(retryRollout(ctx, { id, of: 'failed' }))).toBe('done');
    },
  );

  test('for members of a bulk act: in one ring, immediately', async () => {
    const definition = { kind: 'bulk' as const, rings: undefined };
    const { id } = await givenRollout(ctx, { state: 'finished', definition });
    const retry = await retryRollout(ctx, { id, of: 'failed' });
    expect(retry.rings.map(({ name, bakeSeconds }) => [name, bakeSeconds])).toEqual([['all', 0]]);
    expect(retry.definition).toMatchObject({ strategy: 'at-once', silent: 'declare' });
  });
});

test('the name of a retry is cut between characters, and stays within the limit', async () => {
  for (const name of ['🙂'.repeat(200), `x${'🙂'.repeat(199)}`, 'ä'.repeat(200)]) {
    const { id } = await givenRollout(ctx, { state: 'finished', definition: { name } });
    const retry = await retryRollout(ctx, { id, of: 'unreached' });
    expect([...retry.name].length).toBeLessThanOrEqual(200);
    expect([retry.name.isWellFormed(), retry.name.includes('\ufffd')]).toEqual([true, false]);
    expect((await getRollout(ctx, { id: retry.id })).name).toBe(retry.name);
    expect(name.startsWith(retry.name.replace(/ \(unreached\)$/, ''))).toBe(true);
    expect(retry.name.endsWith(' (unreached)')).toBe(true);
  }
});

test('each retry is a separate rollout, and the activity has its creation', async () => {
  const { id } = await givenRollout(ctx, { state: 'finished' });
  const [one, other] = await Promise.all([
    retryRollout(ctx, { id, of: 'failed' }),
    retryRollout(ctx, { id, of: 'failed' }),
  ]);
  expect(one?.id).not.toBe(other?.id);
  expect((await listRollouts(ctx, { of: id })).items).toHaveLength(2);
  expect(await activityOf(ctx, id)).toEqual([]);
});

test.each<[string, object, string]>([
  ['no members', { of: undefined }, 'unprocessable invalid; /of field_missing'],
  ['succeeded members', { of: 'succeeded' }, 'unprocessable invalid; /of field_choice'],
  ['an unknown rollout', { id: '00000000-0000-4000-8000-000000000000' }, 'not_found rollout_unknown'],
  ['no rollout', { id: undefined }, 'unprocessable invalid; /id field_missing'],
])('a retry of %s is rejected', async (_, input, outcome) => {
  const { id } = await givenRollout(ctx, { state: 'finished' });
  expect(await outcomeOf(retryRollout(ctx, { id, of: 'failed', ...input } as never))).toBe(outcome);
});

test('viewers do not retry', async () => {
  const viewer = await testContext({ services: ctx, role: 'viewer' });
  const { id } = await givenRollout(ctx, { state: 'finished' });
  expect(await outcomeOf(retryRollout(viewer, { id, of: 'failed' }))).toBe('forbidden forbidden');
});
