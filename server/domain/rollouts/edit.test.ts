import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { revertDefinition } from './create-revert.ts';
import { approveRollout, rejectRollout, resumeRollout, setRolloutRules, updateRollout } from './index.ts';
import type { StoredRollout } from './rows.ts';
import { showRollout } from './show-rollout.ts';
import { definitionOf } from './testing/given-draft.ts';
import { type GivenTerms, givenRollout, planHash, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

type Definition = Record<string, unknown> & { rings: { gates: Record<string, unknown> }[] };

/** Edits a rollout in a state by changing its definition as the portal returns it. */
async function edit(state: RolloutState, change: (definition: Definition) => object) {
  const view = await givenRollout(ctx, { state });
  const definition = { ...view.definition, ...change(structuredClone(view.definition) as Definition) };
  return { id: view.id, done: updateRollout(ctx, { id: view.id, revision: 1, definition }) };
}

const inRing = (index: number, change: (ring: { gates: object }) => object) => (definition: Definition) => ({
  rings: definition.rings.map((ring, at) => (at === index ? { ...ring, ...change(ring) } : ring)),
});
const inGates = (index: number, gates: object) => inRing(index, (ring) => ({ gates: { ...ring.gates, ...gates } }));
const window = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' };

const parts: [what: string, change: (definition: Definition) => object, whenRunning: string, whenPaused: string][] = [
  ['the name', () => ({ name: 'other' }), 'done', 'done'],
  ['the note', () => ({ note: 'see 1' }), 'done', 'done'],
  ['windows', () => ({ windows: [window] }), 'done', 'done'],
  ['windows of a ring', inRing(2, () => ({ windows: [window] })), 'done', 'done'],
  ['a rate', () => ({ stepsPerSecond: 5 }), 'done', 'done'],
  ['a lower limit', inGates(1, { inFlight: { percent: 5 } }), 'done', 'done'],
  ['a higher limit', inGates(1, { inFlight: { percent: 20 } }), '/rings/1/gates/inFlight', 'done'],
  ['another form of limit', inGates(1, { inFlight: { count: 1 } }), '/rings/1/gates/inFlight', 'done'],
  ['a gate', inGates(0, { errors: { count: 1 } }), '/rings/0/gates', 'done'],
  ['what a halt does', () => ({ onHalt: 'revert' }), '/onHalt', 'done'],
  ['the selection', () => ({ select: { all: true } }), '/select', '/select'],
  ['the change', () => ({ change: { kind: 'remove', handler: 'Acme.Lab.Probe' } }), '/change', '/change'],
  ['the start', () => ({ startAt: '2030-01-01T00:00:00Z' }), '/startAt', '/startAt'],
  ['a filter of a ring', inRing(0, () => ({ filter: { q: 'web' } })), '/rings/0/filter', '/rings/0/filter'],
  ['a boundary between rings', inRing(1, () => ({ upTo: { percent: 60 } })), '/rings/1/upTo', 'done'],
  ['fewer rings', ({ rings }) => ({ rings: rings.slice(1) }), '/rings', '/rings'],
];

describe('RO-34 after the start', () => {
  test.each(parts)('%s', async (_, change, whenRunning, whenPaused) => {
    for (const [state, fixed] of [
      ['running', whenRunning],
      ['paused', whenPaused],
    ] as const) {
      const { id, done } = await edit(state, change);
      const outcome = await outcomeOf(done);
      expect(outcome).toBe(fixed === 'done' ? 'done' : `conflict rollout_fixed; ${fixed} rollout_fixed`);
      const row = await rowOf(ctx, id);
      expect([row.state, row.revision]).toEqual([state, fixed === 'done' ? 2 : 1]);
    }
  });

  test.each(['checking', 'aborting', 'aborted', 'finished'] as const)(
    'nothing changes in the state %s',
    async (state) => {
      const { done } = await edit(state, () => ({ name: 'other' }));
      expect(await outcomeOf(done)).toBe('conflict rollout_state');
    },
  );
});

describe('RO-34 revisions', () => {
  test('an edit names the revision that it saw', async () => {
    const { id, definition } = await givenRollout(ctx);
    const named = (revision: number | undefined, name: string) =>
      outcomeOf(updateRollout(ctx, { id, revision, definition: { ...definition, name } }));
    expect(await named(undefined, 'a')).toBe('precondition_failed rollout_moved_on');
    expect(await named(0, 'a')).toBe('precondition_failed rollout_moved_on');
    expect(await named(1, 'a')).toBe('done');
    expect(await named(1, 'b')).toBe('precondition_failed rollout_moved_on');
    expect(await rowOf(ctx, id)).toMatchObject({ name: 'a', revision: 2 });
  });

  test('an edit while the rollout is planned throws the plan away', async () => {
    for (const state of ['planning', 'planned'] as const) {
      const { id, done } = await edit(state, () => ({ name: 'other' }));
      await done;
      expect(await rowOf(ctx, id)).toMatchObject({
        state: 'draft',
        plan: null,
        planHash: null,
        members: 0,
        planning: 1,
      });
    }
  });
});

test('RO-34 an edit of gates while paused needs the approvals again before the resume', async () => {
  const admin = await testContext({ services: ctx, role: 'admin' });
  const approval = { fromMembers: 10, people: 1, role: 'operator' as const };
  const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'set' };
  await setRolloutRules(admin, { ...rules, approval });
  const { id, done } = await edit('paused', inGates(0, { errors: null }));
  const { plan } = await done;
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('conflict approval_missing');
  const ada = { ...ctx, actor: { ...ctx.actor, id: 'ada', name: 'ada' } };
  // Who approves what was planned before the edit has not seen the edit.
  expect(await outcomeOf(approveRollout(ada, { id, plan: planHash }))).toBe('precondition_failed plan_moved_on');
  await approveRollout(ada, { id, plan: plan?.hash ?? '' });
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('done');
  const unedited = await givenRollout(ctx, { state: 'paused' });
  expect(await outcomeOf(resumeRollout(ctx, { id: unedited.id }))).toBe('done');
  await setRolloutRules(admin, { ...rules, approval: null });
});

test('RO-33 a rejection while the rollout is paused keeps it from resuming until it is approved or edited', async () => {
  const { id, done } = await edit('paused', inGates(0, { errors: null }));
  const { plan, definition } = await done;
  const ada = { ...ctx, actor: { ...ctx.actor, id: 'ada', name: 'ada' } };
  await rejectRollout(ada, { id, plan: plan?.hash ?? '', reason: 'keep the gate' });
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('conflict approval_missing');
  await updateRollout(ctx, { id, revision: 2, definition: { ...definition, onHalt: 'revert' } });
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('done');
});

describe('RO-34 a definition as the portal returns it', () => {
  const ofPortal: Partial<StoredRollout> = {
    kind: 'revert',
    definition: revertDefinition(
      { id: 'a38d1a2e-0000-4000-8000-000000000001', definition: definitionOf() },
      { ring: 1 },
    ),
  };
  const kinds: [what: string, given: GivenTerms][] = [
    ['rollout', {}],
    ['bulk', { definition: { kind: 'bulk', rings: undefined } }],
    ['revert', { values: ofPortal }],
    ['automatic', { values: { kind: 'automatic', definition: definitionOf({ strategy: 'automatic' }) } }],
  ];

  test.each(kinds)('of the kind %s can be sent back, before and after the start', async (kind, given) => {
    for (const state of ['planned', 'running', 'paused'] as const) {
      const { id } = await givenRollout(ctx, { ...given, state });
      const { definition, revision } = await showRollout(ctx, id);
      const send = (of: object) => updateRollout(ctx, { id, revision, definition: of });
      const before = await rowOf(ctx, id);
      await send(definition);
      expect(await rowOf(ctx, id)).toEqual(before);
      const view = await send({ ...definition, name: 'other', stepsPerSecond: 5 });
      expect(view).toMatchObject({ name: 'other', kind, revision: revision + 1 });
      const { name: _, stepsPerSecond: rate, ...same } = view.definition;
      expect([rate, { ...definition, ...same }]).toEqual([5, { ...definition, ...same }]);
      expect((await rowOf(ctx, id)).definition).toEqual({ ...before.definition, stepsPerSecond: 5 });
    }
  });

  test.each(kinds.slice(2))('of the kind %s keeps what the portal decided', async (_, given) => {
    const { id } = await givenRollout(ctx, { ...given, state: 'planned' });
    const { definition, revision } = await showRollout(ctx, id);
    const other = { ...definition, select: { all: true }, change: { kind: 'remove', handler: 'Acme.Lab.Other' } };
    const outcome = await outcomeOf(updateRollout(ctx, { id, revision, definition: { ...other, kind: 'rollout' } }));
    expect(outcome).toMatch(/^conflict rollout_fixed; \/kind rollout_fixed.* \/change rollout_fixed/);
  });

  test('of the kind automatic cannot leave out VMs that match later', async () => {
    const [, given] = kinds[3] ?? [];
    const { id } = await givenRollout(ctx, { ...given, state: 'running' });
    const { definition, revision } = await showRollout(ctx, id);
    const ignoring = { ...definition, newcomers: definition.newcomers === 'include' ? 'ignore' : 'include' };
    const outcome = await outcomeOf(updateRollout(ctx, { id, revision, definition: ignoring }));
    expect(outcome).toBe('conflict rollout_fixed; /newcomers rollout_fixed');
  });
});
