import { expect, type Page } from '@playwright/test';
import type { AgentProcess } from './agent-process.ts';
import type { Api, CreatedVm, ExtensionGoal } from './api.ts';
import { mount } from './failing-vm.ts';
import { sampleGoal } from './samples.ts';

/** The parts of a rollout that journeys use. */
export interface RolloutState {
  id: string;
  name: string;
  state: string;
  kind: string;
  revision: number;
  why: { code: string }[];
  counts: Record<string, number>;
}

/** Planning, steps and reports take seconds on an idle machine and longer on a busy machine. */
export const patience = { timeout: 60_000 };

/** Returns the address of the VM list, or of a new rollout, for the VMs with this value of the tag `fleet`. */
export const fleetAddress = (fleet: string): string => `/vms?tag=fleet=${fleet}&handler=${mount}`;

type StartAgent = (vm: CreatedVm) => Promise<AgentProcess>;

interface Fleet {
  /** The value of the tag `fleet`, and the beginning of the VMs' names. */
  fleet: string;
  size: number;
}

/** Creates VMs whose extension `share` is healthy, and starts their agents. */
export const healthyFleet = (api: Api, startAgent: StartAgent, fleet: Fleet): Promise<CreatedVm[]> =>
  createFleet(api, startAgent, fleet, { health: 'healthy', goalOf: () => sampleGoal(mount) });

/**
 * Creates VMs whose extension `share` is disabled, and starts their agents. Once it is enabled, it fails on the last
 * `failing` VMs with exit code 51.
 */
export const disabledFleet = (
  api: Api,
  startAgent: StartAgent,
  { failing = 1, ...fleet }: Fleet & { failing?: number },
): Promise<CreatedVm[]> =>
  createFleet(api, startAgent, fleet, {
    health: 'disabled',
    goalOf: (number) => ({ ...sampleGoal(mount, { reachable: number <= fleet.size - failing }), state: 'disabled' }),
  });

async function createFleet(
  api: Api,
  startAgent: StartAgent,
  { fleet, size }: Fleet,
  { health, goalOf }: { health: string; goalOf: (number: number) => ExtensionGoal },
): Promise<CreatedVm[]> {
  const vms: CreatedVm[] = [];
  for (let number = 1; number <= size; number += 1) {
    const vm = await api.createVm(`${fleet}-${number}`, { fleet });
    await api.setExtension(vm.id, 'share', goalOf(number));
    vms.push(vm);
  }
  await Promise.all(vms.map(startAgent));
  for (const { id } of vms) await expectShare(api, id, health);
  return vms;
}

/** Returns the health of a VM's extension `share`. */
export async function shareOf(api: Api, vmId: string): Promise<string | undefined> {
  return (await api.instanceView(vmId)).extensions.find(({ name }) => name === 'share')?.health;
}

/** Waits until the extension `share` of a VM has this health. */
export async function expectShare(api: Api, vmId: string, health: string): Promise<void> {
  await expect.poll(() => shareOf(api, vmId), patience).toBe(health);
}

/** Sets from how many VMs on rollouts need how many approvals; null if they need none. */
export async function setApproval(
  api: Api,
  approval: { fromMembers: number; people: number; role: 'operator' | 'admin' } | null,
): Promise<void> {
  const rules = await api.call<object>('GET', '/rollout-rules');
  await api.call('PUT', '/rollout-rules', { body: { ...rules, approval } });
}

/** Waits until the plan shown on a page or in a dialog is that of its form. */
export async function expectPlanned(page: Page): Promise<void> {
  await expect(page.getByText('The plan is ready.')).toBeAttached(patience);
}

/** Creates a draft that retries a handler's extensions on all VMs. */
export const draftRollout = (api: Api, handler: string): Promise<RolloutState> =>
  api.call('POST', '/rollouts', {
    body: { name: `Retry ${handler}`, select: { all: true }, change: { kind: 'retry', handler } },
  });

/** Returns the rollout with this name. */
export async function rolloutNamed(api: Api, name: string): Promise<RolloutState> {
  const { items } = await api.call<{ items: RolloutState[] }>('GET', `/rollouts?q=${encodeURIComponent(name)}`);
  const found = items.find((rollout) => rollout.name === name);
  if (found === undefined) throw new Error(`There is no rollout ${name}.`);
  return found;
}

/** Waits until a rollout has this state, and returns it. */
export async function expectState(api: Api, id: string, state: string): Promise<RolloutState> {
  const read = () => api.call<RolloutState>('GET', `/rollouts/${id}`);
  await expect.poll(async () => (await read()).state, patience).toBe(state);
  return read();
}
