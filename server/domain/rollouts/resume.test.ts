import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { RingVerdict } from '#server/domain/rollout-rules/stored.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { advanceRollout, getRolloutRules, resumeRollout, setRolloutRules } from './index.ts';
import { ringsOf } from './rows.ts';
import { givenRollout, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const verdict = (gate: RingVerdict['gate'], word: RingVerdict['verdict']): RingVerdict => ({
  ...{ gate, verdict: word, code: `${gate}_code`, params: {} },
});

const halted = () =>
  givenRollout(ctx, {
    state: 'paused',
    values: { pausedBy: 'gate' },
    rings: [
      {
        state: 'passed',
        verdicts: [verdict('errors', 'halt'), verdict('success', 'pass')],
        counts: { ...emptyCounts(), succeeded: 6, failed: 2, reverted: 1 },
      },
      {
        state: 'halted',
        verdicts: [verdict('success', 'halt'), verdict('compare', 'halt')],
        counts: { ...emptyCounts(), changedFirst: 7, controlFirst: 1, pairsBoth: 2, pairsNeither: 30, pairsVoid: 5 },
      },
    ],
  });

describe('RO-29 resume after a halt', () => {
  const all = [
    { ring: 0, gate: 'errors' as const },
    { ring: 1, gate: 'success' as const },
    { ring: 1, gate: 'compare' as const },
  ];

  test('names every verdict that it overrules, with a reason', async () => {
    const { id } = await halted();
    const resume = (overrule: typeof all, reason?: string) => resumeRollout(ctx, { id, overrule, reason });
    await expect(resume([], 'known')).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'verdicts_open' },
      params: { verdicts: '1: errors, 2: success, 2: compare' },
    });
    await expect(resume(all.slice(0, 2), 'known')).rejects.toMatchObject({ params: { verdicts: '2: compare' } });
    expect(await outcomeOf(resume(all))).toBe('conflict verdicts_open');
    expect((await rowOf(ctx, id)).state).toBe('paused');
    expect((await resume(all, 'known')).state).toBe('running');
    const [act] = await readActs(ctx.db, eq(auditEntries.action, 'rollout.resume'));
    expect(act?.details).toMatchObject({ reason: 'known', overruled: ['1: errors', '2: success', '2: compare'] });
  });

  test('lets each overruled gate count from the current numbers', async () => {
    const { id } = await halted();
    await resumeRollout(ctx, { id, overrule: all, reason: 'known' });
    const [first, second, third] = await ringsOf(ctx.db, id);
    expect(first).toMatchObject({ state: 'passed', overruled: { decided: 9, failed: 3, success: false } });
    expect(first?.verdicts.map(({ gate }) => gate)).toEqual(['success']);
    const pairs = { changedFirst: 7, controlFirst: 1, pairs: 40 };
    expect(second).toMatchObject({ state: 'open', verdicts: [], overruled: { decided: 0, success: true, ...pairs } });
    expect(third?.overruled).toBeNull();
  });
});

test('a rollout is not resumed while its version is withdrawn', async () => {
  await givenVersion(ctx.db, { version: '1.1.0.0' });
  const { id } = await givenRollout(ctx, { state: 'paused', values: { pausedBy: 'portal' } });
  const setState = (state: 'withdrawn' | 'published') => ctx.db.update(handlerVersions).set({ state });
  await setState('withdrawn');
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('conflict version_withdrawn');
  await setState('published');
  expect(await outcomeOf(resumeRollout(ctx, { id }))).toBe('done');
});

describe('RO-9 advancing', () => {
  test('opens the next ring early with a reason, which the activity keeps', async () => {
    const { id } = await givenRollout(ctx, { state: 'running', rings: [{ state: 'open' }, { approvals: [approved] }] });
    expect(await outcomeOf(advanceRollout(ctx, { id, ring: 2, reason: 'urgent' }))).toBe('conflict ring_not_next');
    await advanceRollout(ctx, { id, ring: 1, reason: 'urgent' });
    await advanceRollout(ctx, { id, ring: 2, reason: 'urgent too' });
    expect((await ringsOf(ctx.db, id)).map(({ advanced }) => advanced)).toEqual([false, true, true]);
    const acts = await readActs(ctx.db, eq(auditEntries.targetId, id));
    const reasons = acts.filter(({ action }) => action === 'rollout.advance').map(({ details }) => details);
    expect(reasons).toMatchObject([{ reason: 'urgent' }, { reason: 'urgent too' }]);
  });

  test('replaces no approval, skips no halt and needs a reason', async () => {
    const { id } = await givenRollout(ctx, { state: 'running', rings: [{ state: 'open' }] });
    expect(await outcomeOf(advanceRollout(ctx, { id, ring: 1, reason: 'urgent' }))).toBe('conflict approval_missing');
    expect(await outcomeOf(advanceRollout(ctx, { id, ring: 0, reason: '' }))).toMatch(/\/reason/);
    expect(await outcomeOf(advanceRollout(ctx, { id, ring: 3, reason: 'x' }))).toMatch('/ring field_too_big');
    const paused = await givenRollout(ctx, { state: 'paused', rings: [{ state: 'halted' }] });
    expect(await outcomeOf(advanceRollout(ctx, { id: paused.id, ring: 1, reason: 'x' }))).toBe(
      'conflict rollout_state',
    );
  });

  const approved = {
    ...{ ring: 1, approved: true, actor: 'user:ada', by: 'ada', at: '2026-03-01T10:00:00.000Z' },
    ...{ planHash: 'hash-1', note: null },
  };
});

test('RO-36 only admins set freezes and exempt rollouts, and the activity keeps it', async () => {
  const admin = await testContext({ services: ctx, role: 'admin' });
  const { id } = await givenRollout(ctx, { state: 'running', values: { dueAt: null } });
  const freeze = { from: '2026-12-20T00:00:00Z', to: '2027-01-02T00:00:00Z', reason: 'holidays', exempt: [id] };
  const rules = { stepsPerSecond: 50, inFlight: 100, approval: null, availabilitySetTag: 'set', freezes: [freeze] };
  expect(await outcomeOf(setRolloutRules(ctx, rules))).toBe('forbidden forbidden');
  const backwards = { ...rules, freezes: [{ ...freeze, to: freeze.from }] };
  expect(await outcomeOf(setRolloutRules(admin, backwards))).toMatch('/freezes/0/to');
  await setRolloutRules(admin, rules);
  expect((await getRolloutRules(ctx)).freezes).toMatchObject([{ reason: 'holidays', exempt: [id] }]);
  const [act] = await readActs(ctx.db, eq(auditEntries.action, 'rollout-rules.set'));
  expect(act?.after).toMatchObject({ freezes: [{ reason: 'holidays', exempt: [id] }] });
  expect((await rowOf(ctx, id)).dueAt).toEqual(admin.now);
});
