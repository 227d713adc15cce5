import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { nextSequenceNumber, nextSequences, noteReportedSequence } from './sequence.ts';

let services: Services;
let db: Database;

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  await givenVersion(db);
});

const next = (vmId: string, name: string) => db.transaction((tx) => nextSequenceNumber(tx, vmId, name));
const note = (vmId: string, reported: number, name = 'probe') =>
  db.transaction((tx) => noteReportedSequence(tx, vmId, name, reported));

describe('AZ-C4 sequence numbers', () => {
  test('begin with 1 and increase by one, for each name of each VM', async () => {
    const [one, other] = [await givenVm(services), await givenVm(services)];
    expect([await next(one.vmId, 'a'), await next(one.vmId, 'a'), await next(one.vmId, 'b')]).toEqual([1, 2, 1]);
    expect(await next(other.vmId, 'a')).toBe(1);
  });

  test('are used only once by concurrent writers', async () => {
    const { vmId } = await givenVm(services);
    const numbers = await Promise.all(Array.from({ length: 8 }, () => next(vmId, 'a')));
    expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('are not used up by a plan, nor by a change that fails', async () => {
    const { vmId } = await givenVm(services);
    await next(vmId, 'a');
    expect(await nextSequences(db, vmId, ['a', 'b'])).toEqual(new Map([['a', 2]]));
    expect(await nextSequences(db, vmId, [])).toEqual(new Map());
    const failing = db.transaction(async (tx) => {
      await nextSequenceNumber(tx, vmId, 'a');
      throw new Error('rejected');
    });
    await expect(failing).rejects.toThrow('rejected');
    expect(await next(vmId, 'a')).toBe(2);
  });

  test.each<[string, number[], number]>([
    ['a lower one changes nothing', [3], 6],
    ['the same one changes nothing', [5], 6],
    ['a higher one, from before a restore, is passed', [12], 13],
    ['the highest of several counts', [12, 7], 13],
    ['the farthest one that counts', [1_000_005], 1_000_006],
    ['one too far ahead is ignored', [1_000_006], 6],
  ])('reported by an agent: %s', async (_, reported, expected) => {
    const { vmId } = await givenVm(services);
    for (let n = 0; n < 5; n++) await next(vmId, 'probe');
    for (const number of reported) await note(vmId, number);
    expect(await next(vmId, 'probe')).toBe(expected);
  });

  test.each([
    [41, 42],
    [1_000_000, 1_000_001],
    [Number.MAX_SAFE_INTEGER, 1_000_001],
  ])('of a name that was never declared: %j is followed by %j', async (reported, expected) => {
    const { vmId } = await givenVm(services);
    await note(vmId, reported);
    expect(await next(vmId, 'probe')).toBe(expected);
  });

  test('a declaration after a reported number gets a higher number', async () => {
    const vm = await givenVm(services);
    expect(await vm.declare('probe')).toBe(1);
    await note(vm.vmId, 9);
    expect(await vm.declare('probe', { state: 'disabled' })).toBe(10);
  });
});
