import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { goalStateHeads, handlerVersions, secrets } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { tellAfterCommit } from '#server/platform/wakes/index.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { changesSince, markOf } from '#server/testing/records.ts';
import { fetchGoalState } from './fetch-goal-state.ts';
import { findPackageOfVm } from './find-package.ts';
import { peekGoalState } from './peek-goal-state.ts';
import { loadExtensions } from './publish.ts';

let services: Services;
let db: Database;
/**
 * The same database in a process that publishes over NATS, where a fetch is a transaction instead of a single
 * statement.
 */
let other: Database;

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  other = Object.create(db) as Database;
  tellAfterCommit(other, () => {});
  await givenVersion(db);
  await givenVersion(db, { handler: 'Acme.Lab.Disk' });
});

const unknownVm = '00000000-0000-4000-8000-000000000000';
const [first, later] = [new Date('2030-01-01T00:00:00.000Z'), new Date('2030-01-02T00:00:00.000Z')];
const headOf = async ({ vmId }: GivenVm) =>
  (await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)))[0];
const rowsOf = ({ vmId }: GivenVm) => db.transaction((tx) => loadExtensions(tx, vmId));
const deliveries = async (vm: GivenVm) =>
  (await rowsOf(vm)).map(({ name, deliveredAt, everDelivered }) => [name, deliveredAt, everDelivered]);

describe.each([
  ['in one statement', () => db],
  ['in a transaction', () => other],
])('a fetch %s', (_, database) => {
  const fetch = (vm: GivenVm, now: Date) => fetchGoalState(database(), vm.vmId, now);

  test('returns the current goal state and stores the time of the first delivery', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const sent = await fetch(vm, first);
    const head = await headOf(vm);
    expect(sent).toMatchObject({ etag: head?.etag, text: head?.text });
    expect(head).toMatchObject({ deliveredIncarnation: 2, deliveredAt: first });
    expect(await fetch(vm, later)).toMatchObject({ etag: head?.etag, text: head?.text });
    expect(await headOf(vm)).toMatchObject({ deliveredIncarnation: 2, deliveredAt: first });
    expect(await deliveries(vm)).toEqual([['probe', first, true]]);
  });

  test('marks only what was not delivered before', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await fetch(vm, first);
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    expect(await deliveries(vm)).toEqual([
      ['disk', null, false],
      ['probe', first, true],
    ]);
    await vm.declare('probe', { state: 'disabled' });
    await fetch(vm, later);
    expect(await deliveries(vm)).toEqual([
      ['disk', later, true],
      ['probe', later, true],
    ]);
  });

  test('a change of the incarnation alone does not restart a deadline', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    await fetch(vm, first);
    await vm.declare('probe', { timeouts: { enable: 9 } });
    await fetch(vm, later);
    expect(await headOf(vm)).toMatchObject({ deliveredIncarnation: 3, deliveredAt: later });
    expect(await deliveries(vm)).toEqual([['probe', first, true]]);
  });

  test('open pages are notified of a first delivery, and of no other', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    const mark = await markOf(db);
    await fetch(vm, first);
    expect(await changesSince(db, mark)).toEqual([`vm ${vm.vmId}`]);
    await fetch(vm, later);
    expect(await changesSince(db, mark)).toEqual([`vm ${vm.vmId}`]);
  });

  test('protected settings that are withheld from the machine do not count as delivered', async () => {
    const vm = await givenVm(services);
    const settings = { publicSettings: {}, protectedSettings: { a: 1 } };
    await vm.declare('probe', { settings });
    await vm.declare('disk', { handler: 'Acme.Lab.Disk' });
    const sent = await fetch(vm, first);
    expect(sent?.text).not.toContain('probe');
    expect(await deliveries(vm)).toEqual([
      ['disk', first, true],
      ['probe', null, false],
    ]);
    await db
      .update(secrets)
      .set({ cms: Buffer.from('sealed'), thumbprint: 'AB' })
      .where(eq(secrets.vmId, vm.vmId));
    await vm.declare('disk', { handler: 'Acme.Lab.Disk', state: 'disabled' });
    await fetch(vm, later);
    expect(await deliveries(vm)).toEqual([
      ['disk', later, true],
      ['probe', later, true],
    ]);
  });

  test('of a VM that does not exist returns null', async () => {
    expect(await fetchGoalState(database(), unknownVm, first)).toBeNull();
  });
});

describe('a peek', () => {
  test('delivers nothing, and shows what was delivered as it was sent', async () => {
    const vm = await givenVm(services);
    await vm.declare('probe');
    expect(await peekGoalState(db, vm.vmId)).toMatchObject({ incarnation: 2, delivered: null });
    expect(await headOf(vm)).toMatchObject({ deliveredIncarnation: 0, deliveredAt: null });
    await vm.deliver();
    await vm.declare('probe', { state: 'disabled' });
    const head = await headOf(vm);
    expect(await peekGoalState(db, vm.vmId)).toMatchObject({
      etag: head?.etag,
      incarnation: 3,
      delivered: { incarnation: 2, extensions: [{ name: 'probe', state: 'enabled' }] },
    });
  });

  test('of a VM that does not exist returns null', async () => {
    expect(await peekGoalState(db, unknownVm)).toBeNull();
  });
});

describe('a package', () => {
  const digestOf = async (handler: string) =>
    (await db.select().from(handlerVersions).where(eq(handlerVersions.handler, handler)))[0]?.sha256 ?? '';

  test('is available to a VM whose goal state names it, and to no other VM', async () => {
    const [vm, stranger] = [await givenVm(services), await givenVm(services)];
    await vm.declare('probe');
    const digest = await digestOf('Acme.Lab.Probe');
    expect(await findPackageOfVm(db, vm.vmId, digest)).toBe(1234);
    expect(await findPackageOfVm(db, stranger.vmId, digest)).toBeNull();
    expect(await findPackageOfVm(db, vm.vmId, await digestOf('Acme.Lab.Disk'))).toBeNull();
    expect(await findPackageOfVm(db, vm.vmId, '')).toBeNull();
  });
});
