import { expect, test } from 'vitest';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { givenAgent, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { getFirstSteps } from './index.ts';

test('a portal without handlers and VMs has no step done', async () => {
  const ctx = await testContext({ role: 'viewer' });
  expect(await getFirstSteps(ctx)).toEqual({ published: false, enrolled: false, added: false, vm: null });
});

test('each step is done once the portal has what it asks for; the VM to continue with is named', async () => {
  const { ctx, door } = await openTestDoor();
  try {
    expect(await getFirstSteps(ctx)).toEqual({ published: true, enrolled: false, added: false, vm: null });
    const { id } = await registerVm(ctx, { name: 'a-waiting' });
    const waiting = { id, name: 'a-waiting', enrolled: false };
    expect(await getFirstSteps(ctx)).toMatchObject({ enrolled: false, vm: waiting });
    const { vmId } = await givenAgent(ctx, door, 'b-machine');
    const machine = { id: vmId, name: 'b-machine', enrolled: true };
    expect(await getFirstSteps(ctx)).toMatchObject({ enrolled: true, added: false, vm: machine });
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
    await setExtension(ctx, { vmId, name: 'probe', goal });
    expect(await getFirstSteps(ctx)).toEqual({ published: true, enrolled: true, added: true, vm: null });
  } finally {
    await door.close();
  }
});
