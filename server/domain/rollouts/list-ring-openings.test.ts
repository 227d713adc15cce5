import { expect, test } from 'vitest';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { listRingOpenings } from './index.ts';
import { givenRollout, probeDefinition } from './testing/given-rollout.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
const iso = (hour: number) => at(hour).toISOString();

test('the openings of rings are those of the handler’s rollouts since the moment, the latest first', async () => {
  const ctx = await testContext({ role: 'operator' });
  const viewer = await testContext({ services: ctx, role: 'viewer' });
  const rings = [{ openedAt: at(1) }, { openedAt: at(4) }];
  const first = await givenRollout(ctx, { state: 'running', rings });
  const ended = await givenRollout(ctx, {
    state: 'finished',
    rings: [{ openedAt: at(3) }],
    definition: { name: 'old' },
  });
  const change = { ...probeDefinition.change, handler: 'Acme.Lab.Other' };
  await givenRollout(ctx, { state: 'running', rings, definition: { change } });
  const openings = async (hour: number) =>
    (await listRingOpenings(viewer, { handler: 'Acme.Lab.Probe', from: iso(hour) })).items;
  expect(await openings(1)).toEqual([
    { rollout: { id: first.id, name: first.name }, ring: 'tenth', at: iso(4) },
    { rollout: { id: ended.id, name: 'old' }, ring: 'canary', at: iso(3) },
    { rollout: { id: first.id, name: first.name }, ring: 'canary', at: iso(1) },
  ]);
  expect(await openings(3)).toHaveLength(2);
  expect(await openings(5)).toEqual([]);
  expect(await outcomeOf(listRingOpenings(viewer, { handler: 'Acme.Lab.Probe', from: 'yesterday' }))).toMatch('/from');
});
