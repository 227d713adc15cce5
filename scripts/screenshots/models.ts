import { sql } from 'drizzle-orm';
import { enrollPlanMachine } from '../../e2e/support/plan-machine.ts';
import { openHere } from '../seed/open.ts';
import type { Api } from './portal.ts';

/** The names of models by state. */
export type StagedModels = Record<'fresh' | 'few' | 'sets' | 'staged' | 'failed' | 'large', string>;

interface NewMachine {
  vmId: string;
  instanceId: string;
  cloudService: string;
  assignedAddress: string;
  enrollmentToken: string;
}

/** The machine whose agent has stopped calling. */
const silent = 'failed-3';
/** Number of machines in the largest model. */
const largest = 200;

/** The state of a machine in the pictures: what it reports about its extension, or that it does not respond. */
type Condition = 'healthy' | 'failed' | 'degraded' | 'silent';

/**
 * Creates models, unless they exist: not bootstrapped, with few machines, with availability sets, with a deployment in
 * Staging, with machines in every health and with many machines. `handler` is a published handler.
 */
export async function modelsOf(api: Api, gatewayUrl: string, handler: string): Promise<StagedModels> {
  for (const name of ['labstore', 'unused']) await api('PUT', `/storage-accounts/${name}`, { location: 'West Lab' });
  const { items } = await api<{ items: { name: string }[] }>('GET', '/models');
  const known = new Set(items.map(({ name }) => name));
  const enroll = (machine: NewMachine, condition: Condition) =>
    enrollAs(api, { gatewayUrl, handler, machine, condition });
  await create(api, known, { name: 'fresh', sets: true });
  await create(api, known, { name: 'sets', sets: true, controllers: 3 });
  await create(api, known, { name: 'few', sets: false, controllers: 1, machines: 3 });
  await create(api, known, { name: 'large', sets: false, machines: largest });
  const staged = await create(api, known, { name: 'staged', sets: true, controllers: 2 });
  for (const machine of staged) {
    await enroll(machine, 'healthy');
    await openPort(api, machine, 8080);
  }
  if (staged[0]) await api('POST', `/cloud-services/${staged[0].cloudService}/swap`);
  const failed = await create(api, known, { name: 'failed', sets: false, machines: 6 });
  const conditions: Condition[] = ['failed', 'healthy', 'degraded', 'silent', 'healthy'];
  for (const [index, condition] of conditions.entries()) {
    const machine = failed[index];
    if (machine !== undefined) await enroll(machine, condition);
  }
  if (failed[1]) for (const port of [80, 443, 8404]) await openPort(api, failed[1], port);
  await keepAlive();
  return {
    ...{ fresh: 'fresh', few: 'few', sets: 'sets', staged: 'staged', failed: 'failed' },
    large: 'large',
  };
}

/** Stores recent calls of the agents, because no agents run, and an old call of the silent machine. */
async function keepAlive(): Promise<void> {
  const { services, close } = await openHere();
  try {
    await services.db.execute(sql`
      update agent_presence p set
        last_seen_at = case when v.name = ${silent} then now() - interval '23 minutes' else now() end,
        next_expected_at = case when v.name = ${silent} then now() - interval '22 minutes' else now() + interval '8 hours' end
      from vms v where v.id = p.vm_id and (v.name like 'failed-%' or v.name like 'staged-%')`);
    await services.db.execute(sql`
      update health_checks c set due_at = now() from vms v where v.id = c.vm_id and v.name like 'failed-%'`);
  } finally {
    await close();
  }
}

interface Terms {
  name: string;
  sets: boolean;
  /** Number of controllers. The model is bootstrapped if this or `machines` is given. */
  controllers?: number;
  machines?: number;
}

/** Creates a model, unless it exists. Returns its new machines. */
async function create(api: Api, known: ReadonlySet<string>, terms: Terms): Promise<NewMachine[]> {
  const { name, sets, controllers, machines } = terms;
  if (known.has(name)) return [];
  await api('POST', '/models', {
    ...{ name, location: 'West Lab', storageAccount: 'labstore', availabilitySetsEnabled: sets },
  });
  if (controllers === undefined && machines === undefined) return [];
  const { newMachines } = await api<{ newMachines: NewMachine[] }>('POST', `/models/${name}/bootstrap`, {
    controllers: controllers ?? 0,
  });
  const added = [...newMachines];
  while (added.length - newMachines.length < (machines ?? 0)) {
    added.push(await api<NewMachine>('POST', `/models/${name}/machines`, {}));
  }
  return added;
}

const openPort = (api: Api, { instanceId }: NewMachine, port: number) =>
  api('PUT', `/instances/${instanceId}/endpoints/tcp/${port}`, { set: true });

interface Enrolled {
  gatewayUrl: string;
  handler: string;
  machine: NewMachine;
  condition: Condition;
}

/** Enrolls a machine with an extension, and reports about the extension once. */
async function enrollAs(api: Api, { gatewayUrl, handler, machine, condition }: Enrolled): Promise<void> {
  const extension = 'probe';
  await api('PUT', `/vms/${machine.vmId}/extensions/${extension}`, {
    ...{ state: 'enabled', handler, version: '1.0.0.0' },
    timeouts: { enable: 8 * 3_600 },
  });
  const { instanceId: id, assignedAddress: address } = machine;
  const agent = await enrollPlanMachine(gatewayUrl, machine, { id, address });
  const isFailed = condition === 'failed';
  const state = isFailed ? 'failed' : 'enabled';
  const command = isFailed ? { command: 'enable', exitCode: 51 } : { exitCode: 0 };
  const handlers = [{ extension, version: '1.0.0.0', sequenceNumber: 1, state, ...command }];
  const statuses = [{ extension, sequenceNumber: 1, ageSeconds: 0, file: statusOf(condition) }];
  await agent.report({ run: 'pictures', reportNumber: 1, handlers, statuses });
}

/** The status file of an extension. */
function statusOf(condition: Condition): object[] {
  const words = {
    ...{ healthy: ['success', 'Watching 3 targets'], silent: ['success', 'Watching 3 targets'] },
    ...{ failed: ['error', 'The mount files.example.net:/backup answered: permission denied (exit 51)'] },
    ...{ degraded: ['warning', '1 of 3 targets does not answer'] },
  };
  const [status, message] = words[condition];
  const formattedMessage = { lang: 'en', message };
  return [
    {
      version: 1,
      timestampUTC: new Date().toISOString(),
      status: { operation: 'Watch', status, code: 0, formattedMessage },
    },
  ];
}
