import { createdModel } from './support/model.ts';
import { pageAddresses } from './support/page-addresses.ts';
import { helloPlan } from './support/plan-machine.ts';
import { draftRollout } from './support/rollout.ts';
import { publishRunbook } from './support/runbook.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { maxScriptBytes, scriptBytesOf } from './support/script-size.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';

test('no page loads more than 200 kB of script before an interaction', async ({ signedIn, api, unique }) => {
  await publishSamples(api, [probe]);
  const vm = await api.createVm(`script-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const { versions } = await api.call<{ versions: { version: string }[] }>('GET', `/handlers/${probe}`);
  const { id: executionId } = await api.call<{ id: string }>('POST', `/vms/${vm.id}/executions`, {
    body: { plan: helloPlan },
  });
  const client = (await signedIn('admin')).request;
  const runbook = await publishRunbook(api, `script-${unique}`);
  const version = versions[0]?.version ?? '';
  const { id } = await draftRollout(api, probe);
  const model = await createdModel(api, `script-${unique}`);
  const parts = { id, vmId: vm.id, name: 'watch', handler: probe, version, executionId, runbook, model };
  const sizes: Record<string, number> = {};
  for (const address of pageAddresses(parts)) sizes[address] = await scriptBytesOf(client, address);
  expect(Object.keys(sizes).length).toBeGreaterThan(10);
  expect(Object.entries(sizes).filter(([, bytes]) => bytes === 0 || bytes > maxScriptBytes)).toEqual([]);
});
