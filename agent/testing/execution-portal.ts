import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { cancelExecution, getExecution, getResult, queueExecution, readLog } from '#server/domain/executions/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { enroll } from '../commands/enroll.ts';
import { layoutOf } from '../folder/layout.ts';
import { openCaller } from '../portal/call.ts';
import { type AgentInProcess, agentInProcess } from './agent-in-process.ts';

type Execution = Awaited<ReturnType<typeof getExecution>>;
type LogRow = Awaited<ReturnType<typeof readLog>>['rows'][number];

/** The result of an execution, as the portal stores it. */
export interface StoredResult {
  FormatVersion: string;
  ID: string;
  SourceID: string;
  Action: string;
  ErrorCode: number;
  Body: unknown;
  Time: string;
}

/** A machine that is enrolled with a real portal. */
export interface PortalMachine extends AgentInProcess {
  vmId: string;
  dir: string;
  admin: Context;
  queue(plan: unknown, terms?: object): Promise<{ id: string; stamp: number; turn: number }>;
  get(id: string): Promise<Execution>;
  cancel(id: string): Promise<void>;
  /** Returns the result as JSON text. */
  resultText(id: string): Promise<string>;
  result(id: string): Promise<StoredResult>;
  log(id: string): Promise<LogRow[]>;
  /** Waits until `isTrue` returns true for the execution. `what` describes this condition in the error. */
  until(id: string, what: string, isTrue: (execution: Execution) => boolean): Promise<Execution>;
  /** Queues a plan and waits until its execution has ended. */
  run(plan: unknown, terms?: object): Promise<{ execution: Execution; result: StoredResult; log: LogRow[] }>;
}

/** A real portal, with its database, and machines that are enrolled with it. */
export interface ExecutionPortal {
  door: AgentDoor;
  admin: Context;
  machine(): Promise<PortalMachine>;
  close(): Promise<void>;
}

const patienceMilliseconds = 30_000;
const lookMilliseconds = 50;

export async function openExecutionPortal(): Promise<ExecutionPortal> {
  const { ctx, door } = await openTestDoor();
  const admin = await testContext({ services: ctx, role: 'admin' });
  const root = mkdtempSync(join(tmpdir(), 'annex-executions-'));
  const machines: PortalMachine[] = [];
  return {
    door,
    admin,
    async machine() {
      const dir = join(root, `machine-${machines.length}`);
      const machine = await enrolled(admin, door, dir);
      machines.push(machine);
      return machine;
    },
    async close() {
      for (const machine of machines) await machine.stop();
      await door.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function enrolled(admin: Context, door: AgentDoor, dir: string): Promise<PortalMachine> {
  const call = openCaller({ environment: {} });
  const portal = door.url.replace('/agent/v1', '');
  const name = dir.slice(dir.lastIndexOf('/') + 1);
  const { id: vmId, enrollmentToken } = await registerVm(admin, { name: `${name}-${Date.now()}` });
  await enroll({ portal, token: enrollmentToken, dir, call }, () => {});
  const agent = agentInProcess(layoutOf(dir), call, { executionPlans: 'on' });
  const now = (): Context => ({ ...admin, now: new Date() });

  const machine: PortalMachine = {
    ...{ vmId, dir, admin, ...agent },
    async queue(plan, terms = {}) {
      const { execution } = await queueExecution(now(), { vmId, plan: plan as Record<string, unknown>, ...terms });
      const { id, stamp, turn } = execution;
      return { id, stamp: Number(stamp), turn: Number(turn) };
    },
    get: (executionId) => getExecution(admin, { vmId, executionId }),
    async cancel(executionId) {
      await cancelExecution(now(), { vmId, executionId });
    },
    resultText: async (executionId) => (await getResult(admin, { vmId, executionId })) ?? '',
    result: async (id) => JSON.parse(await machine.resultText(id)) as StoredResult,
    log: async (executionId) => (await readLog(admin, { vmId, executionId, row: 0, count: 500 })).rows,
    async until(id, what, isTrue) {
      const end = Date.now() + patienceMilliseconds;
      for (;;) {
        // Some tests end the portal's database connections, including the one that this query uses.
        const execution = await machine.get(id).catch((error: Error) => error);
        const isError = execution instanceof Error;
        if (!isError && isTrue(execution)) return execution;
        if (Date.now() > end) {
          const found = isError ? execution.message : execution.state;
          throw new Error(`never seen: ${what}; ${found}; ${agent.lines.slice(-5).join('\n')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
      }
    },
    async run(plan, terms) {
      const { id } = await machine.queue(plan, terms);
      const execution = await machine.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
      return { execution, result: await machine.result(id), log: await machine.log(id) };
    },
  };
  return machine;
}
