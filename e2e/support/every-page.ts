import { expect, type Page } from '@playwright/test';
import { finalStates } from '#protocol/executions/index.ts';
import type { Api, CreatedVm } from './api.ts';
import { bootstrappedModel } from './model.ts';
import { pageAddresses } from './page-addresses.ts';
import { helloPlan } from './plan-machine.ts';
import { draftRollout } from './rollout.ts';
import { publishRunbook } from './runbook.ts';

interface Given {
  api: Api;
  vm: CreatedVm;
  extension: string;
  handler: string;
  /** Whether the VM's agent runs, so that its execution ends before the pages are opened. */
  hasAgent?: boolean;
}

/** Opens every page of the portal in turn, and yields each page's URL once the page is loaded. */
export async function* everyPage(page: Page, { api, vm, extension, handler, hasAgent }: Given): AsyncGenerator<string> {
  const { versions } = await api.call<{ versions: { version: string }[] }>('GET', `/handlers/${handler}`);
  const version = versions[0]?.version ?? '';
  const { id: executionId } = await api.call<{ id: string }>('POST', `/vms/${vm.id}/executions`, {
    body: { plan: helloPlan },
  });
  if (hasAgent) {
    const read = () => api.call<{ state: string }>('GET', `/vms/${vm.id}/executions/${executionId}`);
    const hasEnded = async () => (finalStates as readonly string[]).includes((await read()).state);
    await expect.poll(hasEnded, { timeout: 30_000 }).toBe(true);
  }
  const runbook = await publishRunbook(api, `every-page-${vm.id}`);
  const { id } = await draftRollout(api, handler);
  const model = await bootstrappedModel(api, `every-page-${vm.id.slice(-8)}`);
  await api.call('POST', `/models/${model}/machines`, { body: {} });
  const parts = { id, vmId: vm.id, name: extension, handler, version, executionId, runbook, model };
  for (const address of pageAddresses(parts)) {
    await page.goto(address);
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    yield address;
  }
}
