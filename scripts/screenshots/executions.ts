import { sql } from 'drizzle-orm';
import { enrollPlanMachine } from '../../e2e/support/plan-machine.ts';
import { openHere } from '../seed/open.ts';
import {
  begunRows,
  callsOf,
  certificatesArguments,
  certificatesParameters,
  certificatesPlan,
  failedRows,
  failure,
  workerRows,
} from './certificates.ts';
import type { Api, Person } from './portal.ts';

const runbook = 'rotate-certificates';
/** Lines of the long log. */
const lineCount = 6_000;
/** How often the machine whose execution runs calls the portal. */
const pollMs = 10_000;

/** Executions by state. `quietId` is the VM of the execution whose agent stopped calling, and `busy` is the VM with an execution that runs and others that wait. */
export interface StagedExecutions {
  runbook: string;
  vmId: string;
  busyId: string;
  quietId: string;
  ids: Readonly<Record<State, string>>;
  /** Writes another line to the log of the running execution. */
  write(): Promise<void>;
}

type State =
  | 'succeeded'
  | 'failed'
  | 'timed-out'
  | 'canceled'
  | 'lost'
  | 'declined'
  | 'running'
  | 'quiet'
  | 'queued'
  | 'approval';
type Machine = Awaited<ReturnType<typeof enrollPlanMachine>>;
interface Queued {
  id: string;
}

/** Creates VMs with executions in every state. `operator` queues those that another person must approve. */
export async function executionsOf(
  api: Api,
  gatewayUrl: string,
  admin: Person,
  operator: Person,
): Promise<StagedExecutions> {
  await publishCertificates(api);
  const past = await api<{ id: string; enrollmentToken: string }>('POST', '/vms', named('runs'));
  const busy = await api<{ id: string; enrollmentToken: string }>('POST', '/vms', named('busy'));
  const quiet = await api<{ id: string; enrollmentToken: string }>('POST', '/vms', named('quiet'));
  const machine = await enrollPlanMachine(gatewayUrl, past);
  const busyMachine = await enrollPlanMachine(gatewayUrl, busy);
  const ids = {
    ...(await pastExecutions(api, machine, past.id)),
    ...(await openExecutions(api, busyMachine, busy.id)),
    quiet: await quietExecution(api, await enrollPlanMachine(gatewayUrl, quiet), quiet.id),
    ...(await approvals(api, admin, operator, past.id, busy.id)),
  };
  let line = 0;
  setInterval(() => void busyMachine.poll().catch(() => undefined), pollMs).unref();
  return {
    runbook,
    vmId: past.id,
    busyId: busy.id,
    quietId: quiet.id,
    ids,
    async write() {
      line += 1;
      await busyMachine.write(ids.running, workerRows(400 + line, 401 + line));
    },
  };
}

const named = (name: string) => ({ name: `${name}-${Date.now().toString(36)}`, tags: { env: 'test' } });

async function publishCertificates(api: Api): Promise<void> {
  const contents = {
    title: 'Rotate certificates',
    description: 'Renews certificates that are about to expire, and reloads nginx.',
    plan: certificatesPlan,
    parameters: certificatesParameters,
    timeoutSeconds: 900,
  };
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    await api('PUT', `/runbooks/${runbook}/versions/${version}`, contents);
    await api('POST', `/runbooks/${runbook}/versions/${version}/publish`, undefined, [409]);
  }
  await api('POST', `/runbooks/${runbook}/versions/1.1.0/withdraw`, { reason: 'It leaves old keys behind.' }, [409]);
  const faulty = { ...certificatesPlan, Body: `${certificatesPlan.Body}\nnotify.post(args.webhook)` };
  await api('PUT', `/runbooks/${runbook}/versions/1.3.0`, { ...contents, plan: faulty });
}

const terms = {
  runbook,
  parameters: certificatesArguments,
  secretParameters: { dnsToken: 'a token for pictures' },
};

const queue = async (api: Api, vmId: string, more: object = {}): Promise<string> =>
  (await api<Queued>('POST', `/vms/${vmId}/executions`, { ...terms, ...more })).id;

/** Takes the next execution and begins it. */
async function begin(machine: Machine): Promise<string> {
  const id = await machine.take();
  await machine.run(id, callsOf({ state: 'running' }));
  await machine.write(id, begunRows);
  return id;
}

async function pastExecutions(api: Api, machine: Machine, vmId: string) {
  await queue(api, vmId);
  const succeeded = await begin(machine);
  await machine.write(succeeded, [
    ...workerRows(0, 12),
    [4_000, 'end', 3, { exitCode: 0, ms: 2_195 }],
    [4_010, 'done', 0],
  ]);
  await machine.run(succeeded, callsOf({ state: 'succeeded', untilRow: 61, tookMs: 2_195, exitCode: 0 }));
  await machine.end(succeeded, 0, { renewed: ['site-1.example.net', 'site-2.example.net'], expires: '2027-02-20' });

  await queue(api, vmId, { note: 'The certificate of the shop expires on Saturday' });
  const failed = await begin(machine);
  for (let from = 0; from < lineCount; from += 1_000) await machine.write(failed, workerRows(from, from + 1_000));
  await machine.write(failed, failedRows);
  const end = begunRows.length + lineCount + 2;
  await machine.run(failed, callsOf({ state: 'failed', untilRow: end, tookMs: 38_215, exitCode: 3 }));
  await machine.end(failed, 1, failure);

  await queue(api, vmId);
  const canceled = await begin(machine);
  await api('POST', `/vms/${vmId}/executions/${canceled}/cancel`, { reason: 'Wrong VM' });
  await machine.end(canceled, 1, {
    Message: 'canceled',
    Type: 'Canceled',
    AdditionalInfo: null,
    Stack: [],
    Causes: [],
  });

  await queue(api, vmId, { timeoutSeconds: 1 });
  const timedOut = await begin(machine);
  await waitForState(api, vmId, timedOut, 'timed-out');

  await queue(api, vmId);
  const lost = await begin(machine);
  await queue(api, vmId);
  const last = await begin(machine);
  await machine.end(last, 0, { renewed: [] });
  return { succeeded, failed, canceled, 'timed-out': timedOut, lost };
}

async function openExecutions(api: Api, machine: Machine, vmId: string) {
  await queue(api, vmId, { timeoutSeconds: 7 * 86_400 });
  const running = await begin(machine);
  await machine.write(running, workerRows(0, 400));
  const queued = await queue(api, vmId, { note: 'After the certificates' });
  await queue(api, vmId);
  return { running, queued };
}

/** Begins an execution on a machine that then makes no calls for 23 minutes. */
async function quietExecution(api: Api, machine: Machine, vmId: string): Promise<string> {
  await queue(api, vmId, { timeoutSeconds: 7 * 86_400 });
  const id = await begin(machine);
  const { services, close } = await openHere();
  await services.db
    .execute(sql`
      update agent_presence set last_seen_at = now() - interval '23 minutes',
        next_expected_at = now() - interval '22 minutes', last_polled_at = now() - interval '23 minutes'
       where vm_id = ${vmId}`)
    .finally(close);
  return id;
}

/** Queues executions that an admin must approve, and declines one of them. */
async function approvals(api: Api, admin: Person, operator: Person, vmId: string, busyId: string) {
  await api('PUT', '/execution-rules', { approval: 'all' });
  const declined = await operator.mutate<Queued>('executions.queue', { vmId, ...terms });
  const decision = { vmId, executionId: declined.id, approve: false, note: 'Not before the freeze ends' };
  await admin.mutate('executions.decide', decision);
  const approval = await operator.mutate<Queued>('executions.queue', { vmId: busyId, ...terms, note: 'For Saturday' });
  await api('PUT', '/execution-rules', { approval: 'none' });
  return { declined: declined.id, approval: approval.id };
}

async function waitForState(api: Api, vmId: string, id: string, state: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const execution = await api<{ state: string }>('GET', `/vms/${vmId}/executions/${id}`);
    if (execution.state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`The execution ${id} is not ${state} after a minute.`);
}
