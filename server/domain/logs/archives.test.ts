import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { logArchives, vms } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { goalStatesChannel, removeExtension } from '#server/domain/goal-states/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import {
  archive,
  archiveList,
  listArchives,
  listRequestedArchives,
  openArchive,
  receiveArchive,
  requestArchive,
} from './index.ts';
import { givenArchive } from './testing/archive.ts';
import {
  actsOf,
  body,
  givenMachine,
  logServices,
  type Machine,
  outputChanges,
  storedBlobs,
} from './testing/machine.ts';

const handler = 'Acme.Lab.Probe';
const archiveBytes = 64 * 1024;
const hourMs = 3_600_000;
const unknownId = '00000000-0000-4000-8000-000000000000';

let services: Services;
let machine: Machine;
beforeAll(async () => {
  services = await logServices({ archiveBytes, vmBytes: 3 * archiveBytes });
});
beforeEach(async () => {
  machine = await givenMachine(services);
});

const request = (now = new Date()) => requestArchive({ ...machine.operator, now }, { vmId: machine.vmId, handler });
const items = async (now = new Date()) =>
  (await listArchives({ ...machine.operator, now }, { vmId: machine.vmId })).items;
const wanted = async (now = new Date()) => listRequestedArchives(await machine.agent(now), machine.vmId);
const rows = () => services.db.select().from(logArchives).where(eq(logArchives.vmId, machine.vmId));
const receive = async (id: string, sent: string | Uint8Array, declared?: number, form: 'zip' | 'tar.gz' = 'tar.gz') =>
  receiveArchive(await machine.agent(), machine.vmId, id, { form, bytes: body(sent), declared });
const incoming = () => readdir(join(services.config.dataDir, 'blobs', 'incoming')).catch(() => []);

/** Counts how often `run` wakes this machine's held polls. */
async function wakesDuring(run: () => Promise<unknown>): Promise<number> {
  const heard: string[] = [];
  const ready = Promise.withResolvers<void>();
  const listener = {
    heard: (_: string, payload: string) => void heard.push(payload),
    lost: () => {},
    back: ready.resolve,
  };
  const listening = services.wakes.listen([goalStatesChannel], listener);
  await ready.promise;
  await run();
  // Messages arrive in the order of their commits, so this message arrives last.
  await services.db.execute(`select pg_notify('${goalStatesChannel}', 'the end')`);
  await expect.poll(() => heard).toContain('the end');
  await listening.close();
  return heard.filter((payload) => payload.includes(machine.vmId)).length;
}

describe('AZ-G11 a request', () => {
  test('is stored with its operator, shown as requested, and sent to the agent', async () => {
    const now = new Date('2030-01-01T10:00:00Z');
    const asked = await request(now);
    expect(archive.parse(asked)).toEqual({
      ...{ id: asked.id, handler, state: 'asked', requestedAt: now.toISOString(), requestedBy: 'Test operator' },
      ...{ answeredAt: null, size: null, form: null },
    });
    expect(await items(now)).toEqual([asked]);
    expect(await wanted(now)).toEqual([{ id: asked.id, handler }]);
  });

  test('is recorded, announced to pages, and wakes the held poll', async () => {
    expect(await outputChanges(services, machine.vmId, () => request())).toBe(1);
    const [act] = await actsOf(services, machine.vmId);
    expect(act).toMatchObject({
      ...{ action: 'logs.request', targetKind: 'handler', targetId: handler, actorName: 'Test operator' },
      details: {},
    });
    const other = 'Acme.Lab.Other';
    const again = () => requestArchive(machine.operator, { vmId: machine.vmId, handler: other });
    expect(await wakesDuring(again)).toBe(1);
  });

  test('while another is open, returns the open request: no log entry, no change, no wake-up', async () => {
    const first = await request();
    expect(await outputChanges(services, machine.vmId, async () => expect((await request()).id).toBe(first.id))).toBe(
      0,
    );
    expect(await wakesDuring(() => request())).toBe(0);
    expect(await actsOf(services, machine.vmId)).toHaveLength(1);
  });

  test('by two operators concurrently is stored once', async () => {
    const asked = await Promise.all(Array.from({ length: 6 }, () => request()));
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await rows()).toHaveLength(1);
    expect(await actsOf(services, machine.vmId)).toHaveLength(1);
  });

  test('for another handler, or after a response, is a new request', async () => {
    const first = await request();
    const { id } = await requestArchive(machine.operator, { vmId: machine.vmId, handler: 'Acme.Lab.Other' });
    await receive(first.id, '');
    const third = await request();
    expect(new Set([first.id, id, third.id]).size).toBe(3);
    expect((await wanted()).map((each) => each.id).toSorted()).toEqual([id, third.id].toSorted());
  });

  test.each<[minutes: number, state: string, isWanted: boolean]>([
    [0, 'asked', true],
    [24 * 60 - 1, 'asked', true],
    [24 * 60 + 1, 'late', false],
  ])('%i minutes later: %s, and sent to the agent: %s', async (minutes, state, isWanted) => {
    const asked = new Date('2030-01-01T10:00:00Z');
    const { id } = await request(asked);
    const now = new Date(asked.getTime() + minutes * 60_000);
    expect((await items(now)).map((each) => each.state)).toEqual([state]);
    expect(await wanted(now)).toHaveLength(isWanted ? 1 : 0);
    expect((await request(now)).id === id, 'a new request').toBe(isWanted);
  });

  test('for an uninstalled extension is possible, and its handler can still be chosen', async () => {
    await machine.deliver();
    await removeExtension(machine.operator, { vmId: machine.vmId, name: 'probe' });
    await request();
    const list = await listArchives(machine.operator, { vmId: machine.vmId });
    expect(archiveList.parse(list).handlers).toEqual([handler]);
    expect(list.items).toHaveLength(1);
  });

  test('of an unknown or deleted VM is rejected', async () => {
    const gone = { kind: 'not_found', code: 'vm_unknown' };
    await expect(requestArchive(machine.operator, { vmId: unknownId, handler })).rejects.toMatchObject(gone);
    await services.db.update(vms).set({ deletedAt: new Date() }).where(eq(vms.id, machine.vmId));
    await expect(request()).rejects.toMatchObject(gone);
    expect(await rows()).toEqual([]);
  });

  test('of a stock agent is rejected: it cannot send logs', async () => {
    const config = { ...services.config, wire: true };
    const stock = await givenMachine(services);
    await grantWireAccess({ ...stock.operator, config }, { vmId: stock.vmId });
    const asked = requestArchive(stock.operator, { vmId: stock.vmId, handler });
    await expect(asked).rejects.toMatchObject({ code: 'logs_not_supported', kind: 'conflict', params: { handler } });
  });
});

describe('AZ-G11 an archive', () => {
  test.each<['zip' | 'tar.gz']>([['zip'], ['tar.gz']])('as %s is stored unopened and downloaded', async (form) => {
    const { id } = await request();
    const bytes = Buffer.from(`${form} of ${machine.name}`);
    await receive(id, bytes, bytes.length, form);
    const [item] = await items();
    expect(item).toMatchObject({ id, state: 'there', size: bytes.length, form, requestedBy: 'Test operator' });
    const opened = await openArchive(machine.operator, { vmId: machine.vmId, archiveId: id });
    expect(opened.archive).toEqual(item);
    expect(await buffer(opened.bytes)).toEqual(bytes);
    expect(await wanted()).toEqual([]);
  });

  test('that arrives is recorded for the machine with its size, and is a change for pages', async () => {
    const { id } = await request();
    expect(await outputChanges(services, machine.vmId, () => receive(id, 'four'))).toBe(1);
    const act = (await actsOf(services, machine.vmId)).at(-1);
    expect(act).toMatchObject({
      ...{ action: 'logs.send', actorKind: 'agent', actorName: machine.name, targetId: handler, details: { size: 4 } },
    });
  });

  test('that arrives late is still accepted and shown as available', async () => {
    const { id } = await request(new Date(Date.now() - 30 * hourMs));
    expect((await items())[0]?.state).toBe('late');
    await receive(id, 'late but complete');
    expect((await items())[0]?.state).toBe('there');
  });

  test('sent twice keeps the first, and without bytes means that there are no logs', async () => {
    const { id } = await request();
    await receive(id, 'first');
    await receive(id, 'second');
    const { bytes } = await openArchive(machine.operator, { vmId: machine.vmId, archiveId: id });
    expect(await text(bytes)).toBe('first');
    const { id: other } = await request();
    await receive(other, '');
    expect((await items())[0]).toMatchObject({ id: other, state: 'empty', size: null, form: null });
    const empty = openArchive(machine.operator, { vmId: machine.vmId, archiveId: other });
    await expect(empty).rejects.toMatchObject({ kind: 'not_found', code: 'archive_unknown' });
  });

  test('sent twice concurrently is stored once', async () => {
    const { id } = await request();
    const before = (await storedBlobs(services)).length;
    await Promise.all(['one', 'two', 'three'].map((sent) => receive(id, `${sent} of ${machine.name}`)));
    expect(await rows()).toHaveLength(1);
    expect((await storedBlobs(services)).length - before).toBe(1);
    expect((await actsOf(services, machine.vmId)).map(({ action }) => action)).toEqual(['logs.request', 'logs.send']);
    expect(await incoming()).toEqual([]);
  });

  test.each<[string, () => [size: number, declared?: number], object]>([
    ['a byte too many', () => [archiveBytes + 1], { kind: 'too_large', code: 'archive_too_large' }],
    ['too many announced', () => [1, archiveBytes + 1], { code: 'archive_too_large', params: { limit: archiveBytes } }],
    ['fewer than announced', () => [3, 4], { kind: 'bad_request', code: 'upload_broken' }],
  ])('with %s is rejected, and the request stays open', async (_, sent, expected) => {
    const { id } = await request();
    const [size, declared] = sent();
    await expect(receive(id, Buffer.alloc(size), declared)).rejects.toMatchObject(expected);
    expect(await wanted()).toHaveLength(1);
    expect(await incoming()).toEqual([]);
  });

  test('of exactly the limit is accepted', async () => {
    const { id } = await request();
    await receive(id, Buffer.alloc(archiveBytes), archiveBytes);
    expect((await items())[0]).toMatchObject({ state: 'there', size: archiveBytes });
  });

  test('that was not requested, or for another VM, is rejected', async () => {
    const { id } = await request();
    const other = await givenMachine(services);
    const sent = { form: 'zip' as const, bytes: body('x'), declared: undefined };
    const unknown = { kind: 'not_found', code: 'archive_unknown' };
    await expect(receiveArchive(await other.agent(), other.vmId, id, sent)).rejects.toMatchObject(unknown);
    await expect(receive(unknownId, 'x')).rejects.toMatchObject(unknown);
    await receive(id, 'x');
    const opened = openArchive(machine.operator, { vmId: other.vmId, archiveId: id });
    await expect(opened).rejects.toMatchObject(unknown);
  });

  test('whose bytes are missing is reported as damaged', async () => {
    const { id } = await request();
    await receive(id, `soon gone ${machine.name}`);
    await services.blobs.remove((await rows())[0]?.sha256 ?? '');
    const opened = openArchive(machine.operator, { vmId: machine.vmId, archiveId: id });
    await expect(opened).rejects.toMatchObject({ kind: 'unavailable', code: 'stored_bytes_damaged' });
  });
});

describe('the archives that are kept for a VM', () => {
  const states = async () => (await items()).map(({ state, size }) => [state, size]);

  test('their bytes are limited: the oldest are removed with their bytes', async () => {
    const before = (await storedBlobs(services)).length;
    for (const fill of ['a', 'b', 'c', 'd']) {
      await receive((await request()).id, Buffer.alloc(archiveBytes, `${fill} ${machine.name}`));
    }
    expect(await states()).toEqual(Array.from({ length: 3 }, () => ['there', archiveBytes]));
    expect((await storedBlobs(services)).length - before).toBe(3);
  });

  test('their number is limited; requests without an archive do not count', async () => {
    const earlier = new Date(Date.now() - hourMs);
    const stored = { requestedAt: earlier, answeredAt: earlier, size: 1, form: 'zip' as const };
    for (let n = 10; n < 30; n += 1) {
      await givenArchive(services, machine.vmId, { ...stored, id: idOf(n), sha256: `${n}`.padEnd(64, '0') });
    }
    await givenArchive(services, machine.vmId, { id: idOf(1), requestedAt: earlier, answeredAt: earlier });
    await receive((await request()).id, 'newest');
    const kept = await rows();
    expect(kept.filter(({ sha256 }) => sha256 !== null)).toHaveLength(20);
    expect(kept.map(({ id }) => id)).not.toContain(idOf(10));
    expect(kept.map(({ id }) => id)).toContain(idOf(1));
  });

  test('the archive that just arrived is kept, even if it was requested first', async () => {
    const { id } = await givenArchive(services, machine.vmId, { id: idOf(0), handler: 'Acme.Lab.Slow' });
    for (const fill of ['a', 'b', 'c']) await receive((await request()).id, Buffer.alloc(archiveBytes, fill));
    await receive(id, Buffer.alloc(archiveBytes, 'slow'));
    expect((await items()).map((item) => item.id)).toContain(id);
    expect(await rows()).toHaveLength(3);
  });

  test('the list shows the newest hundred', async () => {
    const earlier = new Date(Date.now() - hourMs);
    const ids = Array.from({ length: 105 }, (_, n) => idOf(n));
    for (const id of ids) await givenArchive(services, machine.vmId, { id, requestedAt: earlier, answeredAt: earlier });
    expect((await items()).map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 100));
  });

  /** Returns an id that increases with `n` and sorts before any id created today. */
  function idOf(n: number): string {
    return `00000000-0000-7000-8000-${`${n}`.padStart(12, '0')}`;
  }
});

test('the choice contains every handler that was declared, once and in order', async () => {
  await givenVersion(services.db, { handler: 'Acme.Lab.Agent' });
  await machine.declare('agent', { handler: 'Acme.Lab.Agent' });
  await machine.declare('probe', { settings: { publicSettings: { round: 2 } } });
  const { handlers } = await listArchives(machine.operator, { vmId: machine.vmId });
  expect(handlers).toEqual(['Acme.Lab.Agent', handler]);
});
