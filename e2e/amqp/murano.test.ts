import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getResult, settleDue } from '#server/domain/executions/index.ts';
import { type AmqpStage, openAmqpStage, patience, results } from '#server/testing/amqp-stage.ts';
import { AgentProcess } from './agent-process.ts';
import { MuranoAgent, missingForMurano } from './murano-agent.ts';

const missing = await missingForMurano();
if (missing !== null)
  process.stderr.write(`Not tested: the Murano agent. ${missing}. Left out: ${import.meta.filename}.\n`);

let stage: AmqpStage;
const agents: { remove(): Promise<void> }[] = [];

async function startAgent(inputQueue: string): Promise<MuranoAgent> {
  const agent = await MuranoAgent.start({ port: stage.broker.port, inputQueue, resultQueue: results });
  agents.push(agent);
  return agent;
}

const application = (EntryPoint: string, options: object = {}) => ({
  ...{ Type: 'Application', Version: '1.0.0', EntryPoint, Files: [] },
  Options: { captureStdout: true, captureStderr: true, verifyExitcode: true, ...options },
});
const shell = (name: string, commands: string) => ({
  Name: name,
  BodyType: 'Text',
  Body: `#!/bin/bash\n${commands}\n`,
});
const resultOf = async ({ vmId, id }: { vmId: string; id: string }) =>
  JSON.parse((await getResult(stage.admin, { vmId, executionId: id })) ?? 'null') as { Body: unknown };

const hello = {
  ...{ FormatVersion: '2.0.0', Name: 'Hello', Version: '1.0.0', Parameters: { who: 'w' } },
  Body: 'return hello(args.who).stdout',
  Scripts: { hello: application('f') },
  Files: { f: shell('hello.sh', 'echo hello $1') },
};

if (missing === null) {
  beforeAll(async () => {
    stage = await openAmqpStage();
    stage.startConductor();
  });
  afterAll(async () => {
    for (const agent of agents) await agent.remove();
    await stage?.close();
  });
}

describe.runIf(missing === null)('the Murano agent of Debian 12, repaired,', () => {
  let vm: { vmId: string; queue: string };
  let agent: MuranoAgent;
  beforeAll(async () => {
    vm = await stage.boundVm('murano');
    agent = await startAgent(vm.queue);
  });

  test('MU-66 runs hello', async () => {
    const execution = await stage.queue(vm.vmId, hello);
    await stage.until(execution, 'succeeded');
    expect(await resultOf(execution)).toMatchObject({ Action: 'Execute:Result', ErrorCode: 0, Body: 'hello w' });
  });

  test('MU-66 passes data from one script to another', async () => {
    const execution = await stage.queue(vm.vmId, {
      ...{ FormatVersion: '2.0.0', Body: 'first = one()\nreturn two(first.stdout).stdout' },
      Scripts: { one: application('f1'), two: application('f2') },
      Files: { f1: shell('one.sh', 'echo data'), f2: shell('two.sh', 'echo "got $1"') },
    });
    await stage.until(execution, 'succeeded');
    expect(await resultOf(execution)).toMatchObject({ Body: 'got data' });
  });

  test('MU-66 reports a script that ends with exit code 3', async () => {
    const execution = await stage.queue(vm.vmId, {
      ...{ FormatVersion: '2.0.0', Body: 'return s().stdout', Scripts: { s: application('f') } },
      Files: { f: shell('s.sh', 'echo o; exit 3') },
    });
    expect((await stage.until(execution, 'failed')).errorCode).toBe(100);
    expect(await resultOf(execution)).toMatchObject({ Body: { AdditionalInfo: { exitCode: 3 } } });
  });

  test('MU-66 runs three plans one after the other', async () => {
    const executions = [];
    for (let n = 0; n < 3; n += 1)
      executions.push(await stage.queue(vm.vmId, { ...hello, Parameters: { who: `n${n}` } }));
    for (const [n, execution] of executions.entries()) {
      await stage.until(execution, 'succeeded');
      expect(await resultOf(execution)).toMatchObject({ Body: `hello n${n}` });
    }
    const times = await Promise.all(executions.map(async (execution) => (await stage.get(execution)).concludedAt));
    expect(times).toEqual(times.toSorted());
  });

  test('MU-63 loses its result if the result queue is deleted while the plan runs, and the execution times out; the queue is declared again, and the result of Annex’s agent arrives', async () => {
    const own = await stage.boundVm();
    const settings = { amqpHost: '127.0.0.1', amqpPort: stage.broker.port, amqpTls: 'off', amqpInputQueue: own.queue };
    const ownAgent = new AgentProcess(settings);
    agents.push(ownAgent);
    ownAgent.start();
    const folder = mkdtempSync(path.join(tmpdir(), 'annex-murano-test-'));
    const go = path.join(folder, 'go');
    const began = (name: string) => path.join(folder, name);
    const waiting = (name: string) => ({
      ...{ FormatVersion: '2.0.0', Body: 'return s().stdout', Scripts: { s: application('f') } },
      Files: { f: shell('s.sh', `touch ${began(name)}; while [ ! -e ${go} ]; do sleep 0.05; done`) },
    });
    const lost = await stage.queue(vm.vmId, waiting('lost'));
    const kept = await stage.queue(own.vmId, waiting('kept'));
    await expect.poll(() => [began('lost'), began('kept')].every(existsSync), patience).toBe(true);
    await stage.stopConductor();
    const channel = await stage.channel();
    await channel.deleteQueue(results);
    writeFileSync(go, '');
    await expect.poll(() => agent.unansweredPlans(), patience).toBe(0);
    await expect.poll(() => ownAgent.log(), patience).toContain('ended with code 0');
    stage.startConductor();
    await stage.until(kept, 'succeeded');
    expect((await channel.checkQueue(results)).messageCount).toBe(0);
    const { state, dueAt } = await stage.get(lost);
    expect(state).toBe('delivered');
    await settleDue({ ...stage.admin, now: new Date(new Date(dueAt ?? 0).getTime() + 1) });
    await stage.until(lost, 'timed-out');
    rmSync(folder, { recursive: true });
  });
});
