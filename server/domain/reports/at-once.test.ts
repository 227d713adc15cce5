import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

/** Waits for the work. Returns an unexpected error, such as a deadlock, as text. */
async function defectOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    return error instanceof DomainError ? [] : [String(error)];
  }
}

test('concurrent polls, removals, changed goals and reports of one VM never deadlock', async () => {
  const operator = await testContext({ services, role: 'operator' });
  for (let round = 0; round < 8; round++) {
    const vm = await givenVm(services);
    const names = ['a', 'b', 'c'];
    for (const name of names) await vm.declare(name);
    await vm.deliver();
    const report = async (state: string, sequenceNumber: number) =>
      ingestReport(await vm.agent(), {
        vmId: vm.vmId,
        receivedAt: new Date(),
        report: { handlers: names.map((extension) => ({ extension, sequenceNumber, state })) },
      });
    const defects = await Promise.all(
      [
        report('enabled', 1),
        report('enabled', 5),
        report('removed', 1),
        vm.declare('a', { settings: { publicSettings: { round } } }),
        removeExtension(operator, { vmId: vm.vmId, name: 'b' }),
        report('removed', 2),
        vm.deliver(),
        removeExtension(operator, { vmId: vm.vmId, name: 'c' }),
        report('removed', 2),
        report('removed', 6),
        vm.declare('d'),
      ].map(defectOf),
    );
    expect(defects.flat()).toEqual([]);
  }
});
