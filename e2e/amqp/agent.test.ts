import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enroll } from '#agent/commands/enroll.ts';
import { openCaller } from '#agent/portal/call.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { cancelExecution, getResult, publishNext, readLog } from '#server/domain/executions/index.ts';
import { openAgentDoor } from '#server/testing/agent-door.ts';
import { type AmqpStage, openAmqpStage, patience, results } from '#server/testing/amqp-stage.ts';
import { startLossyProxy } from '#server/testing/false-broker.ts';
import { createAuthority } from '#server/testing/tls-authority.ts';
import { AgentProcess } from './agent-process.ts';

let stage: AmqpStage;
let folder: string;
let ca: string;
const agents: AgentProcess[] = [];
beforeAll(async () => {
  const authority = await createAuthority();
  ({ ca } = authority);
  stage = await openAmqpStage({ tls: await authority.issue('localhost') });
  stage.startConductor();
  folder = mkdtempSync(path.join(tmpdir(), 'annex-amqp-test-'));
});
afterAll(async () => {
  for (const agent of agents) await agent.remove();
  await stage?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates the agent of a bound VM. The agent is not enrolled with the portal. */
function agentOf(queue: string, more: object = {}): AgentProcess {
  const settings = { amqpHost: 'localhost', amqpPort: stage.broker.port, amqpCa: ca, amqpInputQueue: queue };
  const agent = new AgentProcess({ ...settings, amqpTag: 'web-1', ...more });
  agents.push(agent);
  return agent;
}

const hello = {
  ...{ FormatVersion: '2.0.0', Name: 'Hello', Parameters: { who: 'w' } },
  Body: "api.logInfo('renewing')\nreturn hello(args.who).stdout",
  Scripts: { hello: { Type: 'Application', EntryPoint: 'f1' } },
  Files: { f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\necho hello $1\n' } },
};

/** Returns a plan that runs these commands in a shell script. */
const shell = (commands: string) => ({
  ...{ FormatVersion: '2.0.0', Body: 'return s().stdout', Scripts: { s: { Type: 'Application', EntryPoint: 'f' } } },
  Files: { f: { Name: 's.sh', BodyType: 'Text', Body: `#!/bin/sh\n${commands}\n` } },
});

const resultOf = async ({ vmId, id }: { vmId: string; id: string }) =>
  JSON.parse((await getResult(stage.admin, { vmId, executionId: id })) ?? 'null') as Record<string, unknown>;
const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);

describe('an agent that takes plans over AMQP only', () => {
  test('runs a plan, and sends its log messages and its result', async () => {
    const { vmId, queue } = await stage.boundVm();
    agentOf(queue).start();
    const execution = await stage.queue(vmId, hello);
    await stage.until(execution, 'succeeded');
    expect(await resultOf(execution)).toMatchObject({
      ...{ Action: 'Execute:Result', SourceID: execution.id, ErrorCode: 0, Body: 'hello w' },
    });
    const { rows } = await readLog(stage.admin, { vmId, executionId: execution.id, row: 0 });
    expect(rows.map(({ kind, text }) => [kind, text])).toEqual([['log', 'renewing']]);
    expect(await stage.get(execution)).toMatchObject({ run: 1, repeats: 0, late: false });
  });

  test('runs the plans of its queue one by one, and answers an invalid plan with code 2', async () => {
    const { vmId, queue } = await stage.boundVm();
    const file = path.join(folder, 'order');
    const executions = [];
    for (const name of ['a', 'b', 'c']) executions.push(await stage.queue(vmId, shell(`echo ${name} >> ${file}`)));
    const channel = await stage.channel();
    const replies = await channel.assertQueue('', { exclusive: true });
    agentOf(queue, { amqpDynamicReply: 'on' }).start();
    for (const execution of executions) await stage.until(execution, 'succeeded');
    expect(linesOf(file)).toEqual(['a', 'b', 'c']);
    channel.sendToQueue(queue, Buffer.from('not json {'), { messageId: 'broken', replyTo: replies.queue });
    channel.sendToQueue(queue, Buffer.from('not json { and without a name'));
    channel.sendToQueue(queue, Buffer.from('{"FormatVersion":"3.0.0"}'), {
      messageId: 'newer',
      replyTo: replies.queue,
    });
    const codes: unknown[] = [];
    await expect
      .poll(async () => {
        const message = await channel.get(replies.queue, { noAck: true });
        if (message) {
          const { SourceID, ErrorCode } = JSON.parse(message.content.toString()) as Record<string, unknown>;
          const { messageId, correlationId } = message.properties;
          codes.push([SourceID, ErrorCode, messageId, correlationId]);
        }
        return codes.length;
      }, patience)
      .toBe(2);
    expect(codes).toEqual([
      ['broken', 2, 'broken', 'broken'],
      ['newer', 9, 'newer', 'newer'],
    ]);
  });

  test('MU-62 runs a plan that two conductors publish only once, and the portal counts 1,000 repeats of its result', async () => {
    const { vmId, queue } = await stage.boundVm();
    await stage.stopConductor();
    const file = path.join(folder, 'once');
    const execution = await stage.queue(vmId, shell(`echo ran >> ${file}`));
    // As if the first conductor died after it published the plan but before it recorded that.
    const plan = await publishNext({ ...stage.admin, now: new Date() }, vmId);
    const channel = await stage.channel();
    await channel.assertQueue(queue, { durable: true });
    channel.sendToQueue(queue, Buffer.from(plan?.text ?? ''), { messageId: execution.id, persistent: true });
    await channel.waitForConfirms();
    agentOf(queue).start();
    stage.startConductor();
    await stage.until(execution, 'succeeded');
    const idle = async () => (await channel.checkQueue(queue)).messageCount;
    await expect.poll(idle, patience).toBe(0);
    await expect.poll(async () => (await stage.get(execution)).repeats, patience).toBe(1);
    expect(linesOf(file)).toEqual(['ran']);
    const result = await resultOf(execution);
    for (let sent = 0; sent < 998; sent += 1) channel.sendToQueue(results, Buffer.from(JSON.stringify(result)));
    await channel.waitForConfirms();
    await expect.poll(async () => (await stage.get(execution)).repeats, patience).toBe(999);
    expect(await resultOf(execution)).toEqual(result);
  });

  test('its result arrives even if the result queue is deleted while the plan runs', async () => {
    const { vmId, queue } = await stage.boundVm();
    const [began, go] = [path.join(folder, 'began'), path.join(folder, 'go')];
    agentOf(queue).start();
    const execution = await stage.queue(vmId, shell(`touch ${began}; while [ ! -e ${go} ]; do sleep 0.05; done`));
    await expect.poll(() => existsSync(began), patience).toBe(true);
    await stage.stopConductor();
    await (await stage.channel()).deleteQueue(results);
    writeFileSync(go, '');
    const agent = agents.at(-1);
    await expect.poll(() => agent?.log() ?? '', patience).toContain('ended with code 0');
    stage.startConductor();
    await stage.until(execution, 'succeeded');
  });

  test('killed while a script runs, it does not run the script again; a broker that restarts loses nothing', async () => {
    const { vmId, queue } = await stage.boundVm();
    const [began, go] = [path.join(folder, 'began-2'), path.join(folder, 'go-2')];
    const agent = agentOf(queue);
    agent.start();
    const execution = await stage.queue(
      vmId,
      shell(`echo >> ${began}; while [ ! -e ${go} ]; do sleep 0.05; done; echo done >> ${began}`),
    );
    const next = await stage.queue(vmId, hello);
    await expect.poll(() => existsSync(began), patience).toBe(true);
    await agent.stop('SIGKILL');
    await stage.broker.stop();
    agent.start();
    writeFileSync(go, '');
    await stage.broker.start();
    await stage.until(execution, 'succeeded');
    await stage.until(next, 'succeeded');
    // A broker that is killed may deliver the plan again. The agent then sends the stored result again.
    expect(readFileSync(began, 'utf8')).toBe('\ndone\n');
  });

  test('MU-61 with execution plans off, it takes nothing from its queue', async () => {
    const { vmId, queue } = await stage.boundVm();
    const agent = agentOf(queue, { executionPlans: 'off' });
    agent.start();
    const execution = await stage.queue(vmId, hello);
    await expect.poll(() => agent.log(), patience).toContain('Connected to the broker');
    const channel = await stage.channel();
    await expect.poll(async () => (await channel.checkQueue(queue)).messageCount, patience).toBe(1);
    expect((await channel.checkQueue(queue)).consumerCount).toBe(0);
    expect((await stage.get(execution)).state).toBe('delivered');
  });
});

describe('an enrolled agent of a VM that is bound to AMQP', () => {
  test('takes plans with secret parameters from the broker, and cancellations from the portal', async () => {
    const door = await openAgentDoor(stage.admin);
    try {
      const { vmId, queue } = await stage.boundVm();
      const agent = agentOf(queue);
      const { enrollmentToken: token } = await issueEnrollmentToken(stage.admin, { vmId });
      const portal = door.url.replace('/agent/v1', '');
      await enroll({ portal, token, dir: agent.dir, call: openCaller({ environment: {} }) }, () => {});
      agent.start();
      const secret = await stage.queue(
        vmId,
        { FormatVersion: '2.0.0', Body: 'return len(args.password)' },
        { secretParameters: { password: 'a long secret' } },
      );
      await stage.until(secret, 'succeeded');
      expect(await resultOf(secret)).toMatchObject({ Body: 13 });
      const began = path.join(folder, 'began-3');
      const endless = await stage.queue(vmId, shell(`touch ${began}; sleep 600`));
      await expect.poll(() => existsSync(began), patience).toBe(true);
      await cancelExecution({ ...stage.admin, now: new Date() }, { vmId, executionId: endless.id });
      await stage.until(endless, 'cancelled');
    } finally {
      for (const agent of agents) await agent.stop();
      await door.close();
    }
  });
});

describe('a firewall that drops all packets', () => {
  test('the agent takes the next plan within a minute after packets pass again, and sends the result of the earlier one', async () => {
    const proxy = await startLossyProxy(stage.broker.port);
    try {
      const { vmId, queue } = await stage.boundVm();
      const [began, go] = [path.join(folder, 'began-4'), path.join(folder, 'go-4')];
      const agent = agentOf(queue, { amqpPort: proxy.port, amqpHeartbeatSeconds: 1 });
      agent.start();
      const execution = await stage.queue(vmId, shell(`touch ${began}; while [ ! -e ${go} ]; do sleep 0.05; done`));
      const next = await stage.queue(vmId, hello);
      await expect.poll(() => existsSync(began), patience).toBe(true);
      proxy.drop();
      writeFileSync(go, '');
      await expect.poll(() => agent.log(), patience).toContain('No plans over AMQP');
      expect((await stage.get(execution)).state).toBe('delivered');
      proxy.recover();
      const recovered = performance.now();
      await stage.until(execution, 'succeeded');
      expect(performance.now() - recovered).toBeLessThan(60_000);
      await stage.until(next, 'succeeded');
    } finally {
      await proxy.close();
    }
  });
});

describe('doctor', () => {
  test('finds the queue of a broker with a valid certificate', async () => {
    const { queue } = await stage.boundVm();
    const find = async () => (await agentOf(queue).doctor())[0]?.verdict;
    await expect.poll(find, patience).toBe('good');
    expect((await agentOf('absent').doctor())[0]).toMatchObject({ verdict: 'advice' });
  });
});
