import { beforeAll, describe, expect, test } from 'vitest';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { completeRemoval } from './complete-removal.ts';
import { loadExtensions } from './publish.ts';
import { removeExtension } from './remove-extension.ts';
import { planRevert, revertGoalState } from './revert-goal-state.ts';

let services: Services;
let operator: Context;

beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator' });
  await givenVersion(services.db);
  await givenVersion(services.db, { handler: 'Acme.Lab.Many', supportsMultipleExtensions: true });
});

/** Creates a VM that has the extension `first` in goal state 2, but now has `second` of the same handler instead. */
async function givenSuccessor(handler = 'Acme.Lab.Probe'): Promise<GivenVm> {
  const vm = await givenVm(services);
  await vm.declare('first', { handler });
  await removeExtension(operator, { vmId: vm.vmId, name: 'first' });
  await vm.declare('second', { handler });
  return vm;
}
const revert = ({ vmId }: GivenVm) => revertGoalState(operator, { vmId, incarnation: 2 });
const states = ({ vmId }: GivenVm) =>
  services.db.transaction(async (tx) => (await loadExtensions(tx, vmId)).map(({ name, state }) => `${name} ${state}`));

describe('AZ-C4 a revert to another extension of a handler that allows only one extension', () => {
  test('is rejected while the machine has another extension of the handler, with newer settings', async () => {
    const vm = await givenSuccessor();
    await vm.deliver();
    const fault = '/extensions/first/handler single_extension';
    expect(await outcomeOf(revert(vm))).toBe(`unprocessable single_extension; ${fault}`);
    const plan = await planRevert(operator, { vmId: vm.vmId, incarnation: 2 });
    expect(plan.faults).toEqual([
      {
        path: '/extensions/first/handler',
        code: 'single_extension',
        params: { handler: 'Acme.Lab.Probe', name: 'second' },
      },
    ]);
    expect(plan.planHash).toBeNull();
    expect(await states(vm)).toEqual(['second enabled']);
  });

  test('works if the machine never had another extension of the handler, or after its removal', async () => {
    const [never, gone] = [await givenSuccessor(), await givenSuccessor()];
    expect(await outcomeOf(revert(never))).toBe('done');
    await gone.deliver();
    const { sequenceNumber } = await removeExtension(operator, { vmId: gone.vmId, name: 'second' });
    await services.db.transaction((tx) => completeRemoval(tx, operator, gone.vmId, 'second', sequenceNumber));
    expect(await outcomeOf(revert(gone))).toBe('done');
    for (const vm of [never, gone]) expect(await states(vm)).toEqual(['first enabled']);
  });

  test('works for a handler that allows several extensions', async () => {
    const vm = await givenSuccessor('Acme.Lab.Many');
    await vm.deliver();
    expect(await outcomeOf(revert(vm))).toBe('done');
    expect(await states(vm)).toEqual(['first enabled', 'second uninstall']);
  });
});
