import { openHere } from '../seed/open.ts';
import type { Api } from './portal.ts';
import { storeRolloutStates } from './rollout-states.ts';

interface Rollout {
  id: string;
  name: string;
  state: string;
  plan: { hash: string } | null;
}

const mount = 'Northwind.Storage.Mount';
const fleet = 'pictures';

/** Seconds for which the portal holds its answer while it plans or starts a rollout. */
const wait = 30;

/**
 * The ids of rollouts by state: those that the portal itself brought there, and those that are only stored. `run` and
 * `runPlanned` run a runbook.
 */
export type StagedRollouts = Record<'draft' | 'planned' | 'running' | 'paused' | 'run' | 'runPlanned', string> & {
  stored: Readonly<Record<string, string>>;
};

/**
 * Creates rollouts in every state, unless they exist already. `failing` is a VM whose extension fails, and `machines` are
 * VMs that can run a runbook. Returns the rollouts' ids.
 */
export async function rolloutsOf(
  api: Api,
  { failing, machines, runbook }: { failing: string; machines: string[]; runbook: string },
): Promise<StagedRollouts> {
  const change = { kind: 'set', handler: mount, publicSettings: { merge: { user: 'operations' } } };
  const select = { include: { tags: [`fleet=${fleet}`] } };
  await makeFleet(api);
  const careful = { strategy: 'careful', select, change, silent: 'declare' };
  const planned = await makeRollout(api, { ...careful, name: 'Mount as operations, in spring' });
  await api('POST', `/rollouts/${planned}/plan?wait=${wait}`);
  const running = await makeRollout(api, { ...careful, name: 'Mount as operations' });
  await start(api, running);
  const paused = await makeRollout(api, {
    ...{ name: 'Retry the share', strategy: 'careful' },
    ...{ select: { ids: [failing] }, change: { kind: 'retry', handler: mount } },
  });
  await start(api, paused);
  await waitForState(api, paused, 'paused');
  const greet = {
    ...{ strategy: 'at-once', silent: 'wait', select: { ids: machines } },
    change: { kind: 'run', runbook, parameters: { who: 'Ada' }, secretParameters: { token: 'a token for pictures' } },
  };
  const run = await makeRollout(api, { ...greet, name: 'Greet the demo' });
  await start(api, run);
  const runPlanned = await makeRollout(api, {
    ...greet,
    name: 'Greet the demo again',
    strategy: 'careful',
    gates: { compare: null },
  });
  await api('POST', `/rollouts/${runPlanned}/plan?wait=${wait}`);
  const draft = await makeRollout(api, { name: 'Mount as operations, a draft', select, change });
  const { services, close } = await openHere();
  const stored = await storeRolloutStates(services.db, draft).finally(close);
  return { draft, planned, running, paused, run, runPlanned, stored };
}

/** Creates VMs without an agent, on which changes stay in flight. */
async function makeFleet(api: Api): Promise<void> {
  const { items } = await api<{ items: { name: string }[] }>('GET', '/vms?q=ring-&limit=100');
  for (let number = items.length + 1; number <= 24; number += 1) {
    const { id } = await api<{ id: string }>('POST', '/vms', { name: `ring-${number}`, tags: { fleet } });
    const settings = {
      publicSettings: { server: 'files.example.net', user: 'backup' },
      protectedSettings: { password: 'a password for pictures' },
    };
    await api('PUT', `/vms/${id}/extensions/share`, { state: 'enabled', handler: mount, version: '2.0.0.0', settings });
  }
}

/** Returns the id of the rollout with this name, after creating it if there is none. */
async function makeRollout(api: Api, definition: { name: string; [field: string]: unknown }): Promise<string> {
  const { items } = await api<{ items: Rollout[] }>('GET', `/rollouts?q=${encodeURIComponent(definition.name)}`);
  const known = items.find(({ name }) => name === definition.name);
  return (known ?? (await api<Rollout>('POST', '/rollouts', definition))).id;
}

/** Plans and starts a draft. A rollout that was started before stays as it is. */
async function start(api: Api, id: string): Promise<void> {
  const at = `/rollouts/${id}`;
  const { state } = await api<Rollout>('GET', at);
  if (state !== 'draft') return;
  const { plan } = await api<Rollout>('POST', `${at}/plan?wait=${wait}`);
  await api('POST', `${at}/start?wait=${wait}`, { plan: plan?.hash });
}

async function waitForState(api: Api, id: string, state: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const rollout = await api<Rollout>('GET', `/rollouts/${id}?wait=${wait}`);
    // People may have ended the rollout since an earlier run.
    if (rollout.state === state || rollout.state === 'aborted') return;
  }
  throw new Error(`The rollout ${id} is not ${state} after a minute.`);
}
