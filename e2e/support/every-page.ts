import { expect, type Page } from '@playwright/test';
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
}

/** Opens every page of the portal in turn, and yields each page's URL once the page is loaded. */
export async function* everyPage(page: Page, { api, vm, extension, handler }: Given): AsyncGenerator<string> {
  const { versions } = await api.call<{ versions: { version: string }[] }>('GET', `/handlers/${handler}`);
  const version = versions[0]?.version ?? '';
  const { id: executionId } = await api.call<{ id: string }>('POST', `/vms/${vm.id}/executions`, {
    body: { plan: helloPlan },
  });
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
