import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentRefusals, goalStateHeads } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { listGoalStateChanges } from './list-goal-state-changes.ts';
import { listGoalStates } from './list-goal-states.ts';
import { setExtension } from './set-extension.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});

describe('the bytes of goal states within an hour', () => {
  const mebibyte = 1_048_576;
  const start = new Date('2030-01-01T00:00:00.000Z');
  const after = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
  /** Returns the context of an operator with a limit that two large goal states exceed. */
  async function limited(now: Date, actor?: Context['actor']): Promise<Context> {
    const { limits } = services.config;
    const vm = { ...limits.vm, goalStateBytesPerHour: 3 * mebibyte };
    const config = {
      ...services.config,
      limits: { ...limits, settings: { ...limits.settings, halfBytes: 4 * mebibyte }, vm },
    };
    return testContext({ services: { ...services, config }, now, role: 'operator', ...(actor && { actor }) });
  }
  /** Returns a large text that hardly compresses. Every goal state stores it twice, as text and as contents. */
  const large = (letter: string) =>
    Array.from(
      { length: 80_000 },
      (_, n) => `${letter}${Math.imul(n + letter.charCodeAt(0), 2_654_435_761) >>> 0}`,
    ).join('');
  const declare = (ctx: Context, { vmId }: GivenVm, text: string) =>
    setExtension(ctx, {
      vmId,
      name: 'probe',
      goal: { handler: 'Acme.Lab.Probe', version: '1.0', state: 'enabled', settings: { publicSettings: { text } } },
    });
  async function givenFull(): Promise<GivenVm> {
    const vm = await givenVm(services);
    const ctx = await limited(start);
    for (const letter of ['a', 'b', 'c']) await outcomeOf(declare(ctx, vm, large(letter)));
    return vm;
  }
  const incarnationOf = async ({ vmId }: GivenVm) =>
    (await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)))[0]?.incarnation;
  const refusalsOf = ({ vmId }: GivenVm) =>
    services.db.select().from(agentRefusals).where(eq(agentRefusals.vmId, vmId));

  test("above the limit, a change is rejected with Retry-After, and the VM's page shows it", async () => {
    const vm = await givenFull();
    const before = await incarnationOf(vm);
    const error = await declare(await limited(after(1)), vm, 'x').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      kind: 'rate_limited',
      code: 'goal_states_exceeded',
      params: { limit: 3, seconds: 600 },
      retryAfter: 600,
    });
    expect(await incarnationOf(vm)).toBe(before);
    expect(await refusalsOf(vm)).toMatchObject([{ code: 'goal_states_exceeded' }]);
  });

  longTest('count for one hour and one VM', async () => {
    const [vm, other] = [await givenFull(), await givenVm(services)];
    expect(await outcomeOf(declare(await limited(after(59)), vm, 'x'))).toBe('rate_limited goal_states_exceeded');
    expect(await outcomeOf(declare(await limited(after(59)), other, 'x'))).toBe('done');
    expect(await outcomeOf(declare(await limited(after(60)), vm, 'x'))).toBe('done');
  });

  test('do not stop the portal itself', async () => {
    const vm = await givenFull();
    expect(await outcomeOf(declare(await limited(after(1), systemActor), vm, 'x'))).toBe('done');
  });
});

describe.each([
  ['listGoalStates', listGoalStates],
  ['listGoalStateChanges', listGoalStateChanges],
] as const)('the pages of %s', (_, list) => {
  let vm: GivenVm;
  let ctx: Context;
  beforeAll(async () => {
    ctx = await testContext({ services, role: 'operator' });
    vm = await givenVm(services);
    for (let n = 0; n < 4; n++) await vm.declare('probe', { settings: { publicSettings: { n } } });
  });
  const page = (more: { limit?: number; cursor?: string } = {}) => list(ctx, { vmId: vm.vmId, ...more });
  const numbers = ({ items }: Awaited<ReturnType<typeof list>>) => items.map(({ incarnation }) => incarnation);

  test.each([
    [1, [[5], [4], [3], [2], [1]]],
    [2, [[5, 4], [3, 2], [1]]],
    [4, [[5, 4, 3, 2], [1]]],
    [5, [[5, 4, 3, 2, 1]]],
    [100, [[5, 4, 3, 2, 1]]],
  ])('of %i entries have no gaps, and no page is empty', async (limit, expected) => {
    const found: number[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const one = await page({ limit, ...(cursor && { cursor }) });
      found.push(numbers(one));
      cursor = one.nextCursor;
    }
    expect(found).toEqual(expected);
  });

  test('do not shift while a newer goal state is declared', async () => {
    const first = await page({ limit: 2 });
    await vm.declare('probe', { settings: { publicSettings: { n: 'newer' } } });
    expect(numbers(await page({ limit: 2, cursor: first.nextCursor ?? '' }))).toEqual([3, 2]);
  });

  test.each([
    ['text', 'abc'],
    ['two keys', Buffer.from('["1","2"]').toString('base64url')],
    ['no number', Buffer.from('["x"]').toString('base64url')],
    ['a negative number', Buffer.from('["-1"]').toString('base64url')],
    ['a number beyond the largest', Buffer.from('["2147483648"]').toString('base64url')],
  ])('reject a cursor with %s', async (_name, cursor) => {
    expect(await outcomeOf(page({ cursor }))).toBe('bad_request cursor_invalid');
  });

  test('end after the oldest', async () => {
    const cursor = Buffer.from('["1"]').toString('base64url');
    expect(await page({ cursor })).toEqual({ items: [], nextCursor: null });
  });
});
