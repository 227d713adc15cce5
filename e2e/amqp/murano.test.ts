import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getResult } from '#server/domain/executions/index.ts';
import { type AmqpStage, openAmqpStage, results } from '#server/testing/amqp-stage.ts';
import { MuranoAgent, missingForMurano } from './murano-agent.ts';

const missing = await missingForMurano();
if (missing !== null)
  process.stderr.write(`Not tested: the Murano agent. ${missing}. Left out: ${import.meta.filename}.\n`);

let stage: AmqpStage;
const agents: MuranoAgent[] = [];

async function startAgent(inputQueue: string): Promise<void> {
  agents.push(await MuranoAgent.start({ port: stage.broker.port, inputQueue, resultQueue: results }));
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

describe.runIf(missing === null)('MU-66 the Murano agent of Debian 12, repaired', () => {
  let vm: { vmId: string; queue: string };
  beforeAll(async () => {
    vm = await stage.boundVm('murano');
    await startAgent(vm.queue);
  });

  test('runs hello', async () => {
    const execution = await stage.queue(vm.vmId, hello);
    await stage.until(execution, 'succeeded');
    expect(await resultOf(execution)).toMatchObject({ Action: 'Execute:Result', ErrorCode: 0, Body: 'hello w' });
  });

  test('passes data from one script to another', async () => {
    const execution = await stage.queue(vm.vmId, {
      ...{ FormatVersion: '2.0.0', Body: 'first = one()\nreturn two(first.stdout).stdout' },
      Scripts: { one: application('f1'), two: application('f2') },
      Files: { f1: shell('one.sh', 'echo data'), f2: shell('two.sh', 'echo "got $1"') },
    });
    await stage.until(execution, 'succeeded');
    expect(await resultOf(execution)).toMatchObject({ Body: 'got data' });
  });

  test('reports a script that ends with exit code 3', async () => {
    const execution = await stage.queue(vm.vmId, {
      ...{ FormatVersion: '2.0.0', Body: 'return s().stdout', Scripts: { s: application('f') } },
      Files: { f: shell('s.sh', 'echo o; exit 3') },
    });
    expect((await stage.until(execution, 'failed')).errorCode).toBe(100);
    expect(await resultOf(execution)).toMatchObject({ Body: { AdditionalInfo: { exitCode: 3 } } });
  });

  test('runs three plans one after the other', async () => {
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
});
