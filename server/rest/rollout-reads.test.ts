import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rolloutCurve, rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import {
  type AutomaticUpgrades,
  checkRollout,
  planRollout,
  type RolloutView,
  type StepView,
  type VersionExplanation,
} from '#server/domain/rollouts/index.ts';
import {
  givenMembers,
  givenRollout,
  givenStep,
  planHash,
  probeDefinition,
} from '#server/domain/rollouts/testing/given-rollout.ts';
import type { RolloutCause } from '#server/domain/views/index.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

let door: RestDoor;
let ctx: Context;
const vms: GivenVm[] = [];
const idAt = (place: number): string => (vms[place] as GivenVm).vmId;
const as = 'operator';
const reader = { as: 'viewer' } as const;

beforeAll(async () => {
  door = await openRestDoor();
  ctx = await testContext({ services: door.services, role: 'operator' });
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(ctx.db, { version });
  for (let n = 0; n < 5; n++) {
    const vm = await givenVm(ctx);
    await vm.declare('probe');
    vms.push(vm);
  }
  await foldHealth(ctx, new Date(), { limit: 100 });
});
afterAll(() => door.close());

const worker = () => ({ ...door.services, log: pino({ level: 'silent' }) });
const shown = (id: string) => door.expect<RolloutView>('getRollout', { id }, 200, { as });

/** Whether a call waits for a change: it listens for notifications meanwhile. */
async function isWaiting(): Promise<boolean> {
  const { rowCount } = await ctx.db.execute(sql`
    select from pg_stat_activity where application_name = 'annex-test-wakes' and datname = current_database()`);
  return rowCount === 1;
}

/** Reads every page of a list, with as many items as `size` on each. */
async function pages<Item>(
  operation: string,
  id: string,
  call: { as: 'operator' | 'viewer'; query?: string },
  size = 2,
) {
  const found: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `?limit=${size}${call.query ?? ''}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page: Page<Item> = await door.expect<Page<Item>>(operation, { id }, 200, { as: call.as, query });
    expect(page.items.length).toBeLessThanOrEqual(size);
    found.push(...page.items);
    cursor = page.nextCursor;
  }
  return found;
}

/** A running rollout over HTTP: created, planned, and started with its hash. */
async function started(ids: readonly string[]): Promise<string> {
  const body = {
    ...{ name: 'probe 1.1', select: { ids }, change: probeDefinition.change },
    rings: [{ name: 'all', upTo: { percent: 100 } }],
  };
  const { id } = await door.expect<RolloutView>('createRollout', {}, 201, { as, body });
  await door.expect('planRollout', { id }, 202, { as });
  await planRollout(worker(), id);
  const plan = await door.expect<{ hash: string }>('getRolloutPlan', { id }, 200, { as });
  expect(plan).toMatchObject({ matched: ids.length, members: ids.length, kinds: { update: ids.length } });
  await door.expect('startRollout', { id }, 202, { as, body: { plan: plan.hash } });
  await checkRollout(worker(), id);
  expect((await shown(id)).state).toBe('running');
  return id;
}

describe('pages of', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await givenRollout(ctx, { state: 'running' }));
    await givenMembers(ctx, id, [[idAt(0), idAt(1)], [idAt(2), idAt(3)], [idAt(4)]]);
    const step = { rolloutId: id, place: 0 };
    await givenStep(ctx, { ...step, vmId: idAt(0), state: 'succeeded' });
    await givenStep(ctx, { ...step, vmId: idAt(1), place: 1, state: 'failed', cause: 'exit' });
    await givenStep(ctx, { ...step, vmId: idAt(2), ring: 1, state: 'skipped', cause: 'moved' });
    await givenStep(ctx, { ...step, vmId: idAt(4), ring: 2, state: 'failed', cause: 'silent' });
  });

  // Rollouts of later tests do not overlap with an ended one.
  afterAll(() => ctx.db.update(rollouts).set({ state: 'finished' }).where(eq(rollouts.id, id)));

  test('steps are in order, without a gap or a repetition', async () => {
    for (const size of [1, 2, 3, 4]) {
      const steps = await pages<StepView>('listRolloutSteps', id, reader, size);
      expect(steps.map(({ vmId }) => vmId)).toEqual([0, 1, 2, 4].map(idAt));
    }
  });

  test.each([
    ['&state=failed', [1, 4]],
    ['&state=failed,skipped', [1, 2, 4]],
    ['&state=failed&ring=2', [4]],
    ['&cause=exit', [1]],
    ['&ring=7', []],
  ])('steps are filtered by %s', async (query, places) => {
    const steps = await pages<StepView>('listRolloutSteps', id, { ...reader, query }, 1);
    expect(steps.map(({ vmId }) => vmId)).toEqual(places.map(idAt));
  });

  test('failed members are grouped by cause, and each group lists its steps', async () => {
    const { items } = await door.expect<Page<RolloutCause>>('listRolloutCauses', { id }, 200, reader);
    expect(items.map(({ cause, vms }) => [cause, vms])).toEqual([
      ['exit', 1],
      ['silent', 1],
    ]);
    const query = `&group=${items[1]?.key}`;
    const steps = await pages<StepView>('listRolloutSteps', id, { ...reader, query }, 1);
    expect(steps.map(({ vmId }) => vmId)).toEqual([idAt(4)]);
    const parked = await door.expect<Page<RolloutCause>>('listRolloutCauses', { id }, 200, {
      ...{ ...reader, query: '?of=parked' },
    });
    expect(parked).toEqual({ items: [], nextCursor: null });
    await door.expect('listRolloutCauses', { id }, [400, 'invalid'], { ...reader, query: '?of=skipped' });
    await door.expect('listRolloutSteps', { id }, [400, 'invalid'], { ...reader, query: '?group=exit' });
  });

  test.each(['?cursor=x', '?state=sleeping', '?ring=20', '?ring=-1', '?limit=0', '?limit=201', '?mood=good'])(
    'steps are not listed with %s, and the problem says why',
    async (query) => {
      const code = query === '?cursor=x' ? 'cursor_invalid' : 'invalid';
      await door.expect('listRolloutSteps', { id }, [400, code], { ...reader, query });
    },
  );

  test('the VMs of a plan are in order, by ring and kind, and state places from 0', async () => {
    type Planned = { vmId: string; ring: number; place: number; kind: string };
    const planned = await pages<Planned>('listRolloutPlanVms', id, { as });
    expect(planned.map(({ vmId, ring, place, kind }) => [vmId, ring, place, kind])).toEqual([
      [idAt(0), 0, 0, 'update'],
      [idAt(1), 0, 1, 'update'],
      [idAt(2), 1, 0, 'update'],
      [idAt(3), 1, 1, 'update'],
      [idAt(4), 2, 0, 'update'],
    ]);
    const ofRing = await pages<Planned>('listRolloutPlanVms', id, { as, query: '&ring=1&kind=update' }, 1);
    expect(ofRing.map(({ vmId }) => vmId)).toEqual([2, 3].map(idAt));
    expect(await pages('listRolloutPlanVms', id, { as, query: '&kind=remove' })).toEqual([]);
    await door.expect('listRolloutPlanVms', { id }, [400, 'invalid'], { as, query: '?kind=mood' });
    await door.expect('listRolloutPlanVms', { id }, [400, 'cursor_invalid'], { as, query: '?cursor=MQ' });
    await door.expect('listRolloutPlanVms', { id }, 403, reader);
  });

  test('the curve has the points of one ring, oldest first', async () => {
    const point = (ring: number, minute: number, decided: number) => ({
      ...{ rolloutId: id, ring, at: new Date(Date.UTC(2026, 2, 1, 12, minute)), decided },
      ...{ failed: 1, pairs: 0, changedFirst: 0, controlFirst: 0 },
    });
    await ctx.db.insert(rolloutCurve).values([point(1, 9, 8), point(1, 3, 4), point(0, 5, 2)]);
    const curve = async (query: string) => {
      const { items } = await door.expect<Page<{ at: string; decided: number }>>('getRolloutCurve', { id }, 200, {
        ...{ ...reader, query },
      });
      return items.map(({ at, decided }) => [at, decided]);
    };
    expect(await curve('?ring=1')).toEqual([
      ['2026-03-01T12:03:00.000Z', 4],
      ['2026-03-01T12:09:00.000Z', 8],
    ]);
    expect(await curve('')).toEqual([['2026-03-01T12:05:00.000Z', 2]]);
    expect(await curve('?ring=2')).toEqual([]);
    await door.expect('getRolloutCurve', { id }, [400, 'invalid'], { ...reader, query: '?ring=all' });
  });

  test('rollouts are filtered and paged, and those of a VM state its place', async () => {
    await givenRollout(ctx, { state: 'finished', definition: { name: 'paged one' } });
    await givenRollout(ctx, { state: 'running', definition: { name: 'paged two' } });
    await givenRollout(ctx, { state: 'aborted', definition: { name: 'paged three' } });
    type Named = { name: string };
    const listed = async (query: string) =>
      (await pages<Named>('listRollouts', '', { ...reader, query }, 1)).map(({ name }) => name);
    expect(await listed('&q=paged')).toEqual(['paged three', 'paged two', 'paged one']);
    expect(await listed('&q=paged&sort=open')).toEqual(['paged two', 'paged three', 'paged one']);
    expect(await listed('&q=paged&state=finished,aborted')).toEqual(['paged three', 'paged one']);
    expect(await listed('&q=paged&kind=revert')).toEqual([]);
    const ofVm = await door.expect<Page<object>>('listVmRollouts', { id: idAt(3) }, 200, reader);
    expect(ofVm.items).toMatchObject([{ rollout: { id }, ring: { index: 1 }, place: 1, state: 'queued' }]);
  });
});

describe('RO-31 a revert over HTTP', () => {
  test('aborts the rollout, and with `start` runs as soon as it is planned', async () => {
    const vm = vms[0] as GivenVm;
    const id = await started([vm.vmId, idAt(1)]);
    const sequenceNumber = await vm.declare('probe', { version: '1.1.0.0' });
    await givenStep(ctx, {
      ...{
        rolloutId: id,
        vmId: vm.vmId,
        state: 'succeeded',
        beforeIncarnation: sequenceNumber - 1,
        incarnation: sequenceNumber,
      },
      touched: [
        {
          name: 'probe',
          sequenceNumber,
          version: '1.1.0.0',
          before: { version: '1.0.0.0', sequenceNumber: sequenceNumber - 1 },
        },
      ],
    });
    const revert = await door.expect<RolloutView>('revertRollout', { id }, 201, { as, body: { start: true } });
    expect(revert).toMatchObject({ kind: 'revert', state: 'planning', of: id, approvalsNeeded: 0 });
    const reverted = await shown(id);
    expect(['aborting', 'aborted']).toContain(reverted.state);
    expect(reverted.revertedBy).toBe(revert.id);
    await planRollout(worker(), revert.id);
    expect(await shown(revert.id)).toMatchObject({ state: 'checking', startedBy: 'operator' });
    await checkRollout(worker(), revert.id);
    expect(await shown(revert.id)).toMatchObject({ state: 'running', counts: { members: 1, queued: 1 } });
    const planned = await door.expect('listRolloutPlanVms', { id: revert.id }, 200, { as });
    expect(planned).toMatchObject({ items: [{ vmId: vm.vmId, kind: 'revert' }], nextCursor: null });
    await ctx.db.update(rollouts).set({ state: 'finished' }).where(eq(rollouts.id, revert.id));
    await vm.declare('probe');
  });

  test('is of a ring that exists, and waits for its start unless the request includes the start', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const problem = await door.expect('revertRollout', { id }, [422, 'invalid'], { as, body: { ring: 3 } });
    expect(problem.errors).toMatchObject([{ path: '/ring' }]);
    await door.expect('revertRollout', { id }, [422, 'invalid'], { as, body: { only: 'healthy' } });
    const revert = await door.expect<RolloutView>('revertRollout', { id }, 201, { as, body: { only: 'failed' } });
    await planRollout(worker(), revert.id);
    expect(await shown(revert.id)).toMatchObject({ state: 'planned', startedBy: null, counts: { members: 0 } });
    await door.expect('revertRollout', { id }, 403, reader);
  });
});

describe('a retry over HTTP', () => {
  test('is a draft of the members in that state, and of no others', async () => {
    const id = await started([idAt(2), idAt(3), idAt(4)]);
    await givenStep(ctx, { rolloutId: id, vmId: idAt(2), state: 'failed', cause: 'exit' });
    await givenStep(ctx, { rolloutId: id, vmId: idAt(3), place: 1, state: 'skipped', cause: 'moved' });
    await ctx.db.update(rollouts).set({ state: 'finished' }).where(eq(rollouts.id, id));
    const retry = async (of: string) => {
      const draft = await door.expect<RolloutView>('retryRollout', { id }, 201, { as, body: { of } });
      expect(draft).toMatchObject({ state: 'draft', kind: 'rollout', of: id, plan: null });
      await door.expect('planRollout', { id: draft.id }, 202, { as });
      await planRollout(worker(), draft.id);
      const { items } = await door.expect<Page<object>>('listRolloutPlanVms', { id: draft.id }, 200, { as });
      return { draft, items };
    };
    const failed = await retry('failed');
    expect(failed.draft).toMatchObject({ name: 'probe 1.1 (failed)', change: { kind: 'retry', version: null } });
    expect(failed.items).toMatchObject([{ vmId: idAt(2), kind: 'retry' }]);
    const skipped = await retry('skipped');
    expect(skipped.draft.change).toMatchObject({ kind: 'set', version: '1.1.0.0' });
    expect(skipped.items).toMatchObject([{ vmId: idAt(3), kind: 'update' }]);
    expect((await retry('unreached')).items).toEqual([]);
  });

  test('names a state in which members can be', async () => {
    const { id } = await givenRollout(ctx, { state: 'finished' });
    const problem = await door.expect('retryRollout', { id }, [422, 'invalid'], { as, body: { of: 'healthy' } });
    expect(problem.errors).toMatchObject([{ path: '/of' }]);
    await door.expect('retryRollout', { id }, 403, { ...reader, body: { of: 'failed' } });
  });
});

describe('waiting', () => {
  test('holds the answer until the rollout has another state', async () => {
    const { id } = await givenRollout(ctx, { state: 'running' });
    const answer = door.expect<RolloutView>('getRollout', { id }, 200, { ...reader, query: '?wait=30' });
    await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
    await door.expect('pauseRollout', { id }, 200, { as });
    expect(await answer).toMatchObject({ state: 'paused' });
  });

  test('for a start ends with what the check found', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    const answer = door.expect<RolloutView>('startRollout', { id }, 200, {
      ...{ as, query: '?wait=30', body: { plan: planHash } },
    });
    await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
    await checkRollout(worker(), id);
    const why = [{ code: 'plan_moved_on', params: { cause: 'definition' } }];
    expect(await answer).toMatchObject({ state: 'planned', startedBy: null, why });
  });

  test('lasts at most 30 seconds', async () => {
    const { id } = await givenRollout(ctx, { state: 'running' });
    for (const query of ['?wait=31', '?wait=-1', '?wait=soon']) {
      await door.expect('getRollout', { id }, [400, 'invalid'], { ...reader, query });
    }
  });
});

describe('strategies and rules', () => {
  const rings = [
    { name: 'first', upTo: { percent: 5 }, approval: true },
    { name: 'all', upTo: { percent: 100 } },
  ];

  test('a saved strategy gives a rollout its rings, until the rollout names its own', async () => {
    const name = 'every second week';
    await door.expect('setRolloutStrategy', { name }, 200, { as, body: { rings, onHalt: 'revert' } });
    const { rings: _, ...body } = { ...probeDefinition, strategy: name };
    const created = await door.expect<RolloutView>('createRollout', {}, 201, { as, body });
    expect(created.definition).toMatchObject({ strategy: name, onHalt: 'revert' });
    expect(created.rings.map((ring) => [ring.name, ring.approval])).toEqual([
      ['first', true],
      ['all', false],
    ]);
    const own = await door.expect<RolloutView>('createRollout', {}, 201, {
      as,
      body: { ...probeDefinition, ...body, rings: rings.slice(1) },
    });
    expect(own.rings.map((ring) => ring.name)).toEqual(['all']);
    await door.expect('deleteRolloutStrategy', { name }, 204, { as });
    await door.expect('createRollout', {}, [404, 'strategy_unknown'], { as, body });
    expect((await shown(created.id)).rings).toHaveLength(2);
  });

  test('faults of a strategy are listed with their paths', async () => {
    const fault = async (body: object) =>
      (await door.expect('setRolloutStrategy', { name: 'odd' }, [422, 'invalid'], { as, body })).errors;
    const [first, all] = rings;
    const upTo = (percent: number) => ({ ...first, upTo: { percent } });
    expect(await fault({ rings: [upTo(50), upTo(5), all] })).toMatchObject([
      { path: '/rings/1/upTo', code: 'ring_shares' },
    ]);
    expect(await fault({ rings: [upTo(5), upTo(50)] })).toMatchObject([{ path: '/rings/1/upTo', code: 'ring_last' }]);
    expect(await fault({ rings, pace: 'slow' })).toMatchObject([{ path: '/pace' }]);
  });

  test('rules are what the admin set, and faults change nothing', async () => {
    const before = await door.expect<Record<string, unknown>>('getRolloutRules', {}, 200, reader);
    const [from, to] = ['2026-12-20T00:00:00.000Z', '2027-01-02T00:00:00.000Z'];
    const freeze = { from, to, reason: 'holidays', exempt: [] };
    const backwards = { ...before, freezes: [{ ...freeze, from: to, to: from }] };
    const problem = await door.expect('setRolloutRules', {}, [422, 'invalid'], { body: backwards });
    expect(problem.errors).toMatchObject([{ path: '/freezes/0/to', code: 'window_empty' }]);
    const crowd = { ...before, approval: { fromMembers: 1, people: 4, role: 'admin' } };
    const tooMany = await door.expect('setRolloutRules', {}, [422, 'invalid'], { body: crowd });
    expect(tooMany.errors).toMatchObject([{ path: '/approval/people' }]);
    expect(await door.expect('getRolloutRules', {}, 200, reader)).toEqual(before);
    const changed = { ...before, freezes: [freeze], approval: { fromMembers: 1, people: 2, role: 'admin' } };
    expect(await door.expect('setRolloutRules', {}, 200, { body: changed })).toEqual(changed);
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect(await shown(id)).toMatchObject({ approvalsNeeded: 2, needsPerson: true, mayApprove: false });
    await door.expect('startRollout', { id }, [409, 'approval_missing'], { as, body: { plan: planHash } });
    await door.expect('setRolloutRules', {}, 200, { body: before });
  });
});

describe('automatic upgrades', () => {
  const handler = 'Acme.Lab.Probe';

  test('RO-38 an extension says what keeps it from each newer version', async () => {
    const [id, name] = [idAt(0), 'probe'];
    const answer = await door.expect<VersionExplanation>('explainVersion', { id, name }, 200, reader);
    expect(answer).toMatchObject({ requestedVersion: '1.0.0.0', version: '1.0.0.0', upgradedBy: null });
    expect(answer.candidates).toMatchObject([{ version: '1.1.0.0', held: { code: 'automatic-off' } }]);
    await door.expect('explainVersion', { id, name: 'absent' }, [404, 'extension_absent'], reader);
  });

  test('of a handler have a strategy, and the versions to which extensions are upgraded', async () => {
    const answer = await door.expect<AutomaticUpgrades>('getAutomaticUpgrades', { handler }, 200, reader);
    expect(answer).toMatchObject({ strategy: { name: 'automatic' }, vms: 0, open: [], last: null });
    expect(answer.targets).toEqual([{ version: '1.1.0.0', vms: 0, rollout: null }]);
    const none = { handler: 'Acme.Lab.None' };
    await door.expect('getAutomaticUpgrades', none, [404, 'handler_unknown'], reader);
  });
});
