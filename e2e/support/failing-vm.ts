import { expect } from '@playwright/test';
import type { AgentProcess } from './agent-process.ts';
import type { Api, CreatedVm } from './api.ts';
import { sampleGoal } from './samples.ts';

/** The sample handler of `failingVm`. */
export const mount = 'Northwind.Storage.Mount';

/** Agents install, run scripts and report, which takes seconds on an idle machine and longer on a busy machine. */
export const settled = { timeout: 30_000 };

/** Creates a VM whose extension `share` fails with exit code 51, and starts its agent. */
export async function failingVm(
  api: Api,
  startAgent: (vm: CreatedVm) => Promise<AgentProcess>,
  name: string,
  tags: Record<string, string> = {},
): Promise<{ vm: CreatedVm; agent: AgentProcess }> {
  const vm = await api.createVm(name, tags);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  return { vm, agent: await startAgent(vm) };
}

/** Waits until the lists show that a VM has failed. */
export async function expectListedAsFailed(api: Api, { name }: CreatedVm): Promise<void> {
  const listed = () => api.call<{ items: unknown[] }>('GET', `/vms?health=failed&q=${name}`);
  await expect.poll(async () => (await listed()).items.length, settled).toBe(1);
}
