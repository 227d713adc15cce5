import { expect, type Page } from '@playwright/test';
import { AgentProcess } from './agent-process.ts';
import type { Api } from './api.ts';
import { bootstrappedModel } from './model.ts';
import { pageAddresses } from './page-addresses.ts';
import { helloPlan } from './plan-machine.ts';
import type { Portal } from './portal.ts';
import { draftRollout } from './rollout.ts';
import { publishRunbook } from './runbook.ts';
import { publishSamples, sampleGoal } from './samples.ts';
import { relatedServices } from './services.ts';

const handler = 'Acme.Lab.Probe';
const extension = 'watch';

/** What the pages of a portal show: a healthy VM with an execution, a handler, a runbook, a rollout and a model with services. */
export interface ShownPortal {
  /** The URLs of all pages. */
  addresses: string[];
  /** The agent of the VM. */
  agent: AgentProcess;
}

/** Creates something for every page to show, and waits until the machine has nothing left to do. */
export async function fillPortal(api: Api, portal: Portal): Promise<ShownPortal> {
  await publishSamples(api, [handler]);
  const vm = await api.createVm('every-page', { env: 'test', role: 'web' });
  await api.setExtension(vm.id, extension, sampleGoal(handler));
  const agent = await AgentProcess.start(portal, vm);
  const execution = await api.call<{ id: string }>('POST', `/vms/${vm.id}/executions`, { body: { plan: helloPlan } });
  const { versions } = await api.call<{ versions: { version: string }[] }>('GET', `/handlers/${handler}`);
  const runbook = await publishRunbook(api, 'every-page');
  const { id } = await draftRollout(api, handler);
  const model = await bootstrappedModel(api, 'every-page');
  await api.call('POST', `/models/${model}/machines`, { body: {} });
  const services = await relatedServices(api, model);
  const health = async () => (await api.instanceView(vm.id)).extensions[0]?.health;
  await expect.poll(health, { timeout: 30_000 }).toBe('healthy');
  const address = `/vms/${vm.id}/executions/${execution.id}`;
  const state = async () => (await api.call<{ state: string }>('GET', address)).state;
  await expect.poll(state, { timeout: 30_000 }).toBe('succeeded');
  const parts = { id, vmId: vm.id, name: extension, handler, version: versions[0]?.version ?? '', runbook, model };
  return { addresses: pageAddresses({ ...parts, ...services, executionId: execution.id }), agent };
}

/** Opens pages in turn, and yields each URL once its page is loaded. */
export async function* openEach(page: Page, addresses: readonly string[]): AsyncGenerator<string> {
  for (const address of addresses) {
    await page.goto(address);
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    yield address;
  }
}
