import { randomBytes, randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commandOutputs, logArchives } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { clearLogs, receiveArchive } from './index.ts';
import { givenArchive } from './testing/archive.ts';
import { body, givenMachine, logServices, type Machine, storedBlobs } from './testing/machine.ts';

const KiB = 1024;
const dayMs = 86_400_000;
const vmBytes = 300 * KiB;

let services: Services;
let machine: Machine;
beforeAll(async () => {
  services = await logServices({ vmBytes });
});
beforeEach(async () => {
  machine = await givenMachine(services);
});

const run = (attempt: number) => [undefined, { attempt }] as const;
const attempts = async () => (await machine.outputs()).map(({ attempt }) => attempt);

describe('the outputs that are kept for a VM', () => {
  test('the least recently written outputs are deleted first, and the output being written is never deleted', async () => {
    const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute));
    const send = (attempt: number, bytes: number, minute: number, start = 0) =>
      machine.send(randomBytes(bytes), [start, start + bytes], { attempt }, at(minute));
    await send(1, 100 * KiB, 1);
    await send(2, 100 * KiB, 2);
    await send(1, 10 * KiB, 3, 100 * KiB);
    await send(3, 120 * KiB, 4);
    expect(await attempts()).toEqual([3, 1]);
    await machine.send(randomBytes(400 * KiB), undefined, { attempt: 4 }, at(0));
    expect(await attempts()).toEqual([4]);
  });

  test('exactly the limit is kept', async () => {
    await machine.send(randomBytes(vmBytes / 2), ...run(1));
    await machine.send(randomBytes(vmBytes / 2), ...run(2));
    expect(await attempts()).toEqual([2, 1]);
    await machine.send('x', ...run(3));
    expect(await attempts()).toEqual([3, 2]);
  });

  test('the outputs of another VM do not count and are not deleted', async () => {
    const other = await givenMachine(services);
    await other.send(randomBytes(200 * KiB));
    await machine.send(randomBytes(200 * KiB));
    expect([await attempts(), (await other.outputs()).length]).toEqual([[1], 1]);
  });

  test('at most 2,000 outputs, whatever their size', async () => {
    const earlier = new Date('2020-01-01T00:00:00Z');
    const rows = Array.from({ length: 2_001 }, (_, attempt) => ({
      ...{ vmId: machine.vmId, id: randomUUID(), extension: 'probe', sequenceNumber: 1, command: 'enable' as const },
      ...{ attempt: attempt + 10, totalBytes: 0, storedBytes: 0, startedAt: earlier, updatedAt: earlier },
    }));
    await services.db.insert(commandOutputs).values(rows);
    await machine.send('newest', ...run(1));
    expect(await services.db.$count(commandOutputs, eq(commandOutputs.vmId, machine.vmId))).toBe(2_000);
    const kept = and(eq(commandOutputs.vmId, machine.vmId), eq(commandOutputs.storedBytes, 6));
    expect(await services.db.$count(commandOutputs, kept), 'the newest').toBe(1);
  });

  test('bytes that another output shares are kept', async () => {
    const shared = randomBytes(160 * KiB);
    await machine.send(shared, ...run(1));
    const other = await givenMachine(services);
    await other.send(shared);
    await machine.send(randomBytes(200 * KiB), ...run(2));
    expect(await attempts()).toEqual([2]);
    expect((await other.outputs())[0]).toMatchObject({ storedBytes: shared.length });
    const blobs = await storedBlobs(services);
    await other.send(shared);
    expect(await storedBlobs(services)).toEqual(blobs);
  });
});

describe('expired logs', () => {
  const expiry = () => services.config.keptDays.logs * dayMs;
  const now = new Date('2030-06-01T00:00:00Z');
  const ago = (ms: number) => new Date(now.getTime() - ms);
  beforeEach(() => clearLogs(services, new Date('2100-01-01T00:00:00Z')));

  test.each<[string, number, number]>([
    ['a second too old', 1_000, 1],
    ['exactly at the limit', 0, 0],
    ['a second younger', -1_000, 0],
  ])('%s', async (_, older, removed) => {
    const at = ago(expiry() + older);
    await machine.send('output\n', undefined, {}, at);
    await givenArchive(services, machine.vmId, { requestedAt: at });
    expect(await clearLogs(services, now)).toBe(2 * removed);
    expect(await machine.outputs()).toHaveLength(1 - removed);
    expect(await services.db.$count(logArchives, eq(logArchives.vmId, machine.vmId))).toBe(1 - removed);
  });

  test('an output that is still being written is kept from its last part on', async () => {
    await machine.send('first', [0, 5], {}, ago(2 * expiry()));
    await machine.send('last', [5, 9, 9], {}, ago(1_000));
    expect(await clearLogs(services, now)).toBe(0);
    expect(await machine.outputs()).toMatchObject([{ storedBytes: 9 }]);
  });

  test('of many VMs are all deleted, even more than one step deletes, and no other logs', async () => {
    const old = ago(expiry() + dayMs);
    const others = await Promise.all([givenMachine(services), givenMachine(services)]);
    const rows = others.flatMap(({ vmId }) =>
      Array.from({ length: 400 }, (_, attempt) => ({
        ...{ vmId, id: randomUUID(), extension: 'probe', sequenceNumber: 1, command: 'enable' as const, attempt },
        ...{ totalBytes: 0, storedBytes: 0, startedAt: old, updatedAt: old },
      })),
    );
    await services.db.insert(commandOutputs).values(rows);
    await machine.send('young', undefined, {}, now);
    expect(await clearLogs(services, now)).toBe(800);
    expect(await machine.outputs()).toHaveLength(1);
    expect(await services.db.$count(commandOutputs)).toBe(1);
  });

  test('bytes are deleted with the last output or archive that has them', async () => {
    const old = ago(expiry() + dayMs);
    const send = async (text: string, at: Date) => {
      const { id } = await givenArchive(services, machine.vmId, { requestedAt: at });
      const sent = { form: 'zip' as const, bytes: body(text), declared: undefined };
      await receiveArchive(await machine.agent(at), machine.vmId, id, sent);
    };
    await send('shared by two requests', old);
    await send('shared by two requests', now);
    await send('of the old one', old);
    expect(await storedBlobs(services)).toHaveLength(2);
    expect(await clearLogs(services, now)).toBe(2);
    expect(await storedBlobs(services)).toHaveLength(1);
    expect(await clearLogs(services, new Date(now.getTime() + expiry() + dayMs))).toBe(1);
    expect(await storedBlobs(services)).toEqual([]);
  });

  test('without expired logs, nothing is deleted', async () => {
    await machine.send('young', undefined, {}, now);
    expect([await clearLogs(services, now), await clearLogs(services, now)]).toEqual([0, 0]);
  });
});
