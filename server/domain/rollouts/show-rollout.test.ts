import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RingPlan, RolloutApproval } from '#server/domain/rollout-rules/stored.ts';
import { rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { rolloutView } from './answers.ts';
import {
  approveRollout,
  countNeeding,
  getRollout,
  getRolloutPlan,
  listRollouts,
  rejectRollout,
  setRolloutRules,
} from './index.ts';
import {
  asPerson,
  type GivenTerms,
  givenRollout,
  planHash,
  probeDefinition,
  probePlan,
} from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let admin: Context;
const rules = { stepsPerSecond: 100, inFlight: 2_000, freezes: [], availabilitySetTag: 'set' };
const approval = { fromMembers: 10, people: 1, role: 'operator' as const };

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  admin = await testContext({ services: ctx, role: 'admin' });
  await setRolloutRules(admin, { ...rules, approval });
});

const ringApproval = (approved: boolean, by = 'ada'): RolloutApproval => ({
  ...{ ring: 1, approved, actor: `user:${by}`, by, at: '2026-03-01T10:00:00.000Z', planHash, note: null },
});

test.each(rolloutStates)('a rollout in the state %s is shown in the form that the API documents', async (state) => {
  const { id } = await givenRollout(ctx, { state });
  for (const reader of [viewer, ctx, admin]) {
    const view = await getRollout(reader, { id });
    expect(rolloutView.strict().parse(view)).toEqual(view);
    expect(view.state).toBe(state);
  }
});

describe('what each role sees', () => {
  const settings = {
    ...{ publicSettings: { merge: { level: 'hidden-level' } }, protectedSettings: { password: 'hunter2' } },
    dependsOn: ['base'],
  };

  test('operators see settings and the plan, viewers neither; secrets appear for neither', async () => {
    const definition = { change: { ...probeDefinition.change, ...settings } };
    const { id } = await givenRollout(ctx, { state: 'planned', definition });
    for (const [reader, sees] of [
      [viewer, false],
      [ctx, true],
      [admin, true],
    ] as const) {
      const view = await getRollout(reader, { id });
      const text = JSON.stringify(view);
      expect([text.includes('hidden-level'), text.includes('hunter2')]).toEqual([sees, false]);
      expect(view).toMatchObject({ hasProtectedSettings: true, change: { settings: true } });
      expect(view.definition.change).toMatchObject({ dependsOn: ['base'], version: '1.1.0.0' });
      expect(view.definition.change).not.toHaveProperty('protectedSettings');
      expect(view.plan).toEqual({ hash: planHash, at: probePlan.at, by: probePlan.by });
      expect(await outcomeOf(getRolloutPlan(reader, { id }))).toBe(sees ? 'done' : 'forbidden forbidden');
    }
  });

  test('a change that removes protected settings says so', async () => {
    const change = { ...probeDefinition.change, protectedSettings: null };
    const view = await getRollout(viewer, await givenRollout(ctx, { definition: { change } }));
    expect(view.definition.change).toMatchObject({ protectedSettings: null });
    expect(view).toMatchObject({ hasProtectedSettings: false, change: { settings: true } });
  });

  test('members without the role and strangers see nothing', async () => {
    const { id } = await givenRollout(ctx);
    const anonymous = await testContext({ services: ctx, role: null });
    expect(await outcomeOf(getRollout(anonymous, { id }))).toBe('unauthenticated unauthenticated');
    expect(await outcomeOf(getRollout(viewer, { id: id.toUpperCase() }))).toBe('done');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await outcomeOf(getRollout(viewer, { id: unknown }))).toBe('not_found rollout_unknown');
    expect(await outcomeOf(getRolloutPlan(ctx, { id: unknown }))).toBe('not_found rollout_unknown');
    expect(await outcomeOf(getRollout(viewer, { id: 'x' }))).toBe('unprocessable invalid; /id field_format');
    expect(await outcomeOf(getRollout(viewer, { id, wait: 31 }))).toBe('unprocessable invalid; /wait field_too_big');
  });

  test('approvals name people, never their ids', async () => {
    const { id } = await givenRollout(ctx, {
      state: 'running',
      rings: [undefined, { approvals: [ringApproval(true)] }],
    });
    const view = await getRollout(viewer, { id });
    expect(view.approvals).toEqual([
      { ring: 1, approved: true, by: 'ada', at: '2026-03-01T10:00:00.000Z', planHash, note: null },
    ]);
    expect(JSON.stringify(view)).not.toContain('user:');
    expect(view.rings.map(({ approval: asks, approvedBy }) => [asks, approvedBy])).toEqual([
      [false, null],
      [true, 'ada'],
      [false, null],
    ]);
  });
});

describe('RO-33 who may approve', () => {
  const may = async (reader: Context, terms: GivenTerms) =>
    (await getRollout(reader, { id: (await givenRollout(ctx, terms)).id })).mayApprove;
  const ada = () => asPerson(ctx, 'ada');

  test('only people who may, and only while a decision is awaited', async () => {
    expect(await may(ada(), { state: 'planned' })).toBe(true);
    expect(await may(ctx, { state: 'planned' })).toBe(false);
    expect(await may(viewer, { state: 'planned' })).toBe(false);
    expect(await may({ ...ctx, actor: { ...ctx.actor, kind: 'token', id: 't' } }, { state: 'planned' })).toBe(false);
    expect(await may(ada(), { state: 'planned', values: { members: 9 } })).toBe(false);
    expect(await may(ada(), { state: 'draft' })).toBe(false);
    expect(await may(ada(), { state: 'finished' })).toBe(false);
    for (const state of ['scheduled', 'running', 'paused'] as const) {
      expect(await may(ada(), { state })).toBe(true);
      const approvals = [ringApproval(true)];
      expect(await may(ada(), { state, rings: [undefined, { approvals }] })).toBe(false);
      expect(await may(ada(), { state, rings: [undefined, { approvals: [ringApproval(false)] }] })).toBe(true);
      expect(await may(ada(), { state, rings: [undefined, { state: 'open' }] })).toBe(false);
    }
  });

  test('what the answer says is what the act does', async () => {
    for (const person of [ada(), ctx, viewer]) {
      const { id } = await givenRollout(ctx, { state: 'planned' });
      const { mayApprove } = await getRollout(person, { id });
      expect(await outcomeOf(approveRollout(person, { id, plan: planHash })).then((told) => told === 'done')).toBe(
        mayApprove,
      );
    }
  });

  test('a person who changes their mind has one decision', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    await approveRollout(ada(), { id, plan: planHash, note: 'fine' });
    const rejected = await rejectRollout(ada(), { id, plan: planHash, reason: 'not so fine' });
    expect(rejected.approvals.map(({ approved, note }) => [approved, note])).toEqual([[false, 'not so fine']]);
    expect(rejected.approvalsNeeded).toBe(1);
  });
});

describe('who is needed', () => {
  const cases: [what: string, terms: GivenTerms, needs: boolean][] = [
    ['a draft', { state: 'draft' }, false],
    ['a draft whose plan failed', { state: 'draft', values: { why: [{ code: 'plan_failed' }] } }, true],
    ['a rollout that is being planned', { state: 'planning' }, false],
    ['a plan that needs approval', { state: 'planned' }, true],
    ['a plan with too few members for approval', { state: 'planned', values: { members: 9 } }, false],
    ['a plan that moved on', { state: 'planned', values: { members: 9, why: [{ code: 'plan_moved_on' }] } }, true],
    ['a scheduled rollout', { state: 'scheduled' }, false],
    ['a running rollout', { state: 'running' }, false],
    ['a rollout that waits for its window', { state: 'running', values: { next: { code: 'window_closed' } } }, false],
    ['a ring that needs approval', { state: 'running', values: { next: { code: 'ring_approval', ring: 1 } } }, true],
    ['a rollout that a person paused', { state: 'paused', values: { pausedBy: 'person' } }, false],
    ['a rollout that a gate paused', { state: 'paused', values: { pausedBy: 'gate' } }, true],
    ['a rollout that the portal paused', { state: 'paused', values: { pausedBy: 'portal' } }, true],
    ['a rollout that keeps members', { state: 'keeping' }, false],
    ['a rollout that is being aborted', { state: 'aborting' }, false],
    ['a finished rollout', { state: 'finished', values: { why: [{ code: 'errors_count' }] } }, false],
  ];

  test.each(cases)('%s', async (_, terms, needs) => {
    const before = (await countNeeding(viewer)).needing;
    const { id } = await givenRollout(ctx, terms);
    expect((await getRollout(viewer, { id })).needsPerson).toBe(needs);
    const [listed] = (await listRollouts(viewer, { limit: 200 })).items.filter((item) => item.id === id);
    expect(listed?.needsPerson).toBe(needs);
    expect((await countNeeding(viewer)).needing - before).toBe(needs ? 1 : 0);
  });
});

describe('the forecast', () => {
  const now = new Date('2026-03-02T10:00:00.000Z');
  const metAt = new Date('2026-03-02T09:40:00.000Z');
  const gates = { inFlight: { count: 1 }, ramp: false, soakSeconds: 60, bakeSeconds: 1_800 };
  const planOf = (size: number): RingPlan => ({
    ...{ name: 'ring', size, kinds: {}, inFlight: 1, bytes: 0, restarts: 0, silent: 0, longestSeconds: 600 },
    sets: { touched: 0, longest: 0 },
  });
  const plan = { ...probePlan, rings: [2, 3, 5].map(planOf) };
  const done = (succeeded: number, more = {}) => ({ counts: { ...emptyCounts(), succeeded, ...more } });
  const forecast = async ({ state = 'running', rings = [], values = {} }: GivenTerms) => {
    const { id } = await givenRollout(ctx, { state, rings, values: { plan, ...values }, definition: { gates } });
    const found = (await getRollout({ ...viewer, now }, { id })).forecast;
    return found && [found.from, found.to].map((end) => (Date.parse(end) - now.getTime()) / 1_000);
  };

  test('counts from now, and only what is left', async () => {
    // At best 10 s a VM, usually 120 s, one after the other; each ring soaks, and bakes before the next.
    expect(await forecast({})).toEqual([100 + 180 + 3_600, 1_200 + 180 + 3_600]);
    const last = [done(2), done(3), done(2, { failed: 1, parked: 1 })];
    expect(await forecast({ rings: last })).toEqual([71, 181]);
    const baking = [done(2), { ...done(3), state: 'baking' as const, metAt }];
    expect(await forecast({ rings: baking })).toEqual([600 + 50 + 60, 600 + 600 + 60]);
  });

  test('is not given while nothing runs, without a plan, and when every VM is decided or parked', async () => {
    expect(await forecast({ state: 'paused' })).toBeNull();
    expect(await forecast({ state: 'planned' })).toBeNull();
    expect(await forecast({ values: { plan: null } })).toBeNull();
    expect(await forecast({ rings: [done(2), done(3), done(4, { parked: 1 })] })).toBeNull();
  });
});

test('a rollout names what superseded and what reverted it', async () => {
  const [later, revert] = [await givenRollout(ctx), await givenRollout(ctx)];
  const values = { kind: 'automatic' as const, supersededBy: later.id, revertedBy: revert.id };
  const { id } = await givenRollout(ctx, { state: 'aborting', values });
  expect(await getRollout(viewer, { id })).toMatchObject({
    ...{ kind: 'automatic', supersededBy: later.id, revertedBy: revert.id, approvalsNeeded: 0 },
  });
});
