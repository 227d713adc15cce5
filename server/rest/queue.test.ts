import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GivenAgent, givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let agents: Awaited<ReturnType<typeof openAgentDoor>>;
let count = 0;

beforeAll(async () => {
  door = await openRestDoor();
  agents = await openAgentDoor(door.services);
  await givenVersion(door.services.db, { handler: 'Acme.Lab.Probe', version: '1.0.0.0' });
  await givenVersion(door.services.db, { handler: 'Acme.Lab.Probe', version: '2.0.0.0' });
  await givenVersion(door.services.db, { handler: 'Acme.Lab.Mount', version: '1.0.0.0' });
});
afterAll(async () => {
  await agents.close();
  await door.close();
});

interface Entry {
  name: string;
  step: string | null;
  version: string | null;
  turn: number;
  askedBy: string | null;
  since: string | null;
  limitSeconds: number | null;
  reason: { code: string; text: string } | null;
}
interface Shown {
  now: Entry | null;
  next: Entry[];
  waiting: Entry[];
}

const newAgent = async (): Promise<GivenAgent> => {
  count += 1;
  return givenAgent(await testContext({ services: door.services }), agents, `web-${count}`);
};

const readQueue = (vmId: string, acceptLanguage = 'en'): Promise<Shown> =>
  door.expect<Shown>('getVmQueue', { id: vmId }, 200, {
    as: 'viewer',
    headers: { 'accept-language': acceptLanguage },
  });

const plan = { FormatVersion: '2.0.0', Name: 'Rotate certificates', Version: '1.2.0', Body: 'return 1', Scripts: {} };
/** Queues an execution plan, and returns the id of the execution. */
const queuePlan = async (id: string, more: Entries = {}) =>
  (await door.expect<{ id: string }>('queueExecution', { id }, 201, { as: 'admin', body: { plan, ...more } })).id;

const wordsOf = ({ name, step, version, reason }: Entry) =>
  [name, step, version?.replace(/\.0\.0\.0$/, ''), reason?.code].filter(Boolean).join(' ');
const shown = async (vmId: string) => {
  const { now, next, waiting } = await readQueue(vmId);
  return { now: now && wordsOf(now), next: next.map(wordsOf), waiting: waiting.map(wordsOf) };
};

/** Declares the extensions `mount` and `probe`; `probe` depends on `mount`. */
async function declareTwo({ vmId }: GivenAgent): Promise<void> {
  const mount = { handler: 'Acme.Lab.Mount', version: '1.0.0.0', state: 'enabled', timeouts: { install: 60 } };
  await door.expect('setExtension', { id: vmId, name: 'mount' }, 200, { body: mount });
  const probe = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', dependsOn: ['mount'] };
  await door.expect('setExtension', { id: vmId, name: 'probe' }, 200, { body: probe });
}

/** Returns the queue entries that the links under “Why the VM isn’t done” lead to. */
async function explainedEntries(vmId: string): Promise<string[]> {
  type Link = { kind: string; queueEntry: string | null };
  const view = await door.expect<{ explanation: { links: Link[] } | null }>('getInstanceView', { id: vmId }, 200, {
    as: 'viewer',
  });
  return (view.explanation?.links ?? []).flatMap(({ kind, queueEntry }) =>
    queueEntry === null ? [] : [`${kind} ${queueEntry}`],
  );
}

type Entries = Record<string, unknown>;
let reportNumber = 0;
async function send(agent: GivenAgent, handlers: Entries[], more: Entries = {}): Promise<void> {
  reportNumber += 1;
  const body = JSON.stringify({ reportNumber, handlers, ...more });
  expect((await agent.call('/reports', { method: 'POST', body })).status).toBe(204);
}

const status = (extension: string, word: string, sequenceNumber = 1) => ({
  statuses: [
    {
      extension,
      sequenceNumber,
      ageSeconds: 1,
      readSecondsAgo: 0,
      file: [{ version: 1.0, timestampUTC: new Date().toISOString(), status: { status: word, operation: 'enable' } }],
    },
  ],
});

const work = (turn: number, versions: Entries, extensions: Entries) => ({ turn, round: turn, versions, extensions });

test('an unknown VM has no queue, and a VM without an agent waits for an agent', async () => {
  const id = '00000000-0000-4000-8000-000000000000';
  expect((await door.call('GET', `/vms/${id}/queue`)).status).toBe(404);
  const vm = await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'empty' } });
  expect(await shown(vm.id)).toEqual({ now: null, next: [], waiting: [] });
  const body = { handler: 'Acme.Lab.Mount', version: '1.0.0.0', state: 'enabled' };
  await door.expect('setExtension', { id: vm.id, name: 'mount' }, 200, { body });
  expect(await shown(vm.id)).toEqual({
    now: null,
    next: [],
    waiting: ['mount install 1 never', 'mount enable 1 never'],
  });
});

test('says what waits for what, who requested it, its turn and timeout, in the language of the caller', async () => {
  const agent = await newAgent();
  await declareTwo(agent);
  await agent.call('/goal-state');
  await send(agent, []);
  expect(await shown(agent.vmId)).toEqual({
    now: null,
    next: [],
    waiting: [
      'mount install 1 download',
      'mount enable 1 download',
      'probe install 1 dependency',
      'probe enable 1 dependency',
    ],
  });
  const { waiting } = await readQueue(agent.vmId, 'de');
  expect(waiting[0]).toMatchObject({ askedBy: expect.any(String), turn: expect.any(Number), limitSeconds: 60 });
  expect(waiting.map(({ reason }) => reason?.text)).toEqual([
    'Wartet auf den Download von Acme.Lab.Mount 1.0.0.0',
    'Wartet auf den Download von Acme.Lab.Mount 1.0.0.0',
    'Wartet auf mount',
    'Wartet auf mount',
  ]);
});

test.each(['an agent that reports what it works on', 'an agent of the first release'])(
  'follows the reports of %s',
  async (kind) => {
    const agent = await newAgent();
    await declareTwo(agent);
    const { turn } = (await (await agent.call('/goal-state')).json()) as { turn: number };
    const of = (versions: Entries, extensions: Entries = { mount: '1.0.0.0' }) =>
      kind.includes('first') ? {} : { work: { ...work(turn, versions, extensions), commandVersion: '1.0.0.0' } };
    const mount = { extension: 'mount', sequenceNumber: 1, attempt: 1 };
    const waits = { extension: 'probe', sequenceNumber: 1, state: 'waiting', blockedBy: 'mount', ...of({}, {}) };
    await send(agent, [waits, { ...mount, state: 'installing', command: 'install', ...of({ '1.0.0.0': 'unpacked' }) }]);
    const running = await readQueue(agent.vmId);
    expect(running.now).toMatchObject({ name: 'mount', step: 'install', limitSeconds: 60, since: expect.any(String) });
    expect(running.next.map(wordsOf)).toEqual(['mount enable 1']);
    expect(running.waiting.map(({ name }) => name)).toContain('probe');
    expect(await explainedEntries(agent.vmId)).toEqual(['wait probe']);
    const installed = of({ '1.0.0.0': 'installed' });
    const version = '1.0.0.0';
    await send(agent, [
      { ...mount, version, state: 'installed', command: 'install', exitCode: 0, output: '', ...installed },
    ]);
    expect(await shown(agent.vmId)).toEqual({
      now: null,
      next: ['mount enable 1'],
      waiting: ['probe install 1 dependency', 'probe enable 1 dependency'],
    });
    await send(agent, [{ ...mount, version, state: 'enabling', command: 'enable', ...installed }]);
    expect(await shown(agent.vmId)).toMatchObject({ now: 'mount enable 1', next: [] });
    await send(
      agent,
      [{ ...mount, version, state: 'enabled', command: 'enable', exitCode: 0, output: '', ...installed }],
      status('mount', 'success'),
    );
    expect(await shown(agent.vmId)).toEqual({
      now: null,
      next: [],
      waiting: ['probe install 1 download', 'probe enable 1 download'],
    });
  },
);

test('an extension that depends on a failed extension waits and says so', async () => {
  const agent = await newAgent();
  await declareTwo(agent);
  const { turn } = (await (await agent.call('/goal-state')).json()) as { turn: number };
  const facts = { work: { ...work(turn, { '1.0.0.0': 'unpacked' }, { mount: '1.0.0.0' }), commandVersion: '1.0.0.0' } };
  const failed = {
    extension: 'mount',
    sequenceNumber: 1,
    state: 'failed',
    command: 'install',
    exitCode: 1,
    output: '',
  };
  await send(agent, [{ ...failed, ...facts }]);
  expect(await shown(agent.vmId)).toEqual({ now: null, next: [], waiting: ['probe enable 1 dependency_failed'] });
  const { waiting } = await readQueue(agent.vmId);
  expect(waiting[0]?.reason?.text).toBe('Waiting for mount, which failed');
});

test('changes declared during a hold wait for its end', async () => {
  const agent = await newAgent();
  const body = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' };
  await door.expect('setExtension', { id: agent.vmId, name: 'probe' }, 200, { body });
  const { turn } = (await (await agent.call('/goal-state')).json()) as { turn: number };
  const facts = {
    work: { ...work(turn, { '1.0.0.0': 'installed' }, { probe: '1.0.0.0' }), commandVersion: '1.0.0.0' },
  };
  const enabled = { extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', command: 'enable' };
  await send(agent, [{ ...enabled, exitCode: 0, output: '', ...facts }], status('probe', 'success'));
  expect(await shown(agent.vmId)).toEqual({ now: null, next: [], waiting: [] });
  await door.expect('holdVm', { id: agent.vmId }, 200, { body: { reason: 'freeze' } });
  const update = { ...body, version: '2.0.0.0' };
  await door.expect('setExtension', { id: agent.vmId, name: 'probe' }, 200, { body: update });
  const steps = ['probe disable 1', 'probe update 2', 'probe uninstall 1', 'probe enable 2'];
  expect(await shown(agent.vmId)).toEqual({ now: null, next: [], waiting: steps.map((step) => `${step} hold`) });
  expect(await explainedEntries(agent.vmId)).toEqual(['hold probe']);
  await door.expect('releaseHold', { id: agent.vmId }, 204);
  expect(await shown(agent.vmId)).toEqual({ now: null, next: [], waiting: steps.map((step) => `${step} download`) });
});

test('executions have their place in the queue, and extensions say which execution they wait for', async () => {
  const agent = await newAgent();
  const { vmId } = agent;
  const body = { handler: 'Acme.Lab.Mount', version: '1.0.0.0', state: 'enabled' };
  await door.expect('setExtension', { id: vmId, name: 'mount' }, 200, { body });
  await agent.call('/goal-state');
  await send(agent, []);
  const first = await queuePlan(vmId, { timeoutSeconds: 120, note: 'CHG-7' });
  await queuePlan(vmId, { plan: { ...plan, Name: 'Clean up' } });
  const { next } = await readQueue(vmId);
  expect(next.map(({ name }) => name)).toEqual(['Rotate certificates', 'Clean up']);
  expect(next[0]).toMatchObject({
    ...{ kind: 'execution', id: first, version: '1.2.0', step: null, handler: null, limitSeconds: 120, reason: null },
    ...{ askedBy: expect.any(String), askedAt: expect.any(String), validUntil: expect.any(String) },
  });
  const put = (what: string, content: Entries) =>
    agent.call(`/executions/${first}/${what}`, { method: 'PUT', body: JSON.stringify(content) });
  expect((await agent.call('/executions/next')).status).toBe(200);
  const calls = [{ n: 1, script: 'renew', function: 'apply', state: 'running', row: 2, atMs: 12 }];
  expect((await put('progress', { run: 1, state: 'running', sentMsAgo: 0, calls })).status).toBe(204);
  const busy = await readQueue(vmId);
  expect(busy.now).toMatchObject({
    ...{ kind: 'execution', id: first, since: expect.any(String), validUntil: null },
    call: { n: 1, script: 'renew', function: 'apply' },
  });
  expect(busy.next.map(({ name }) => name)).toEqual(['Clean up']);
  type Link = { kind: string; execution: string | null; title: { code: string }; detail: { values: object } };
  const view = await door.expect<{ explanation: { links: Link[] }; extensions: { deadlineAt: string | null }[] }>(
    'getInstanceView',
    { id: vmId },
    200,
  );
  expect(view.explanation.links.at(-1)).toMatchObject({
    ...{ kind: 'turn', execution: first, extension: 'mount' },
    detail: { values: { execution: 'Rotate certificates' } },
  });
  expect(view.extensions[0]?.deadlineAt, 'the deadline is paused').toBeNull();
  expect(await door.expect('cancelWaitingExecutions', { id: vmId }, 200)).toEqual({ cancelled: 1 });
  await door.expect('holdVm', { id: vmId }, 200, { body: { reason: 'freeze' } });
  await queuePlan(vmId);
  const held = await readQueue(vmId, 'de');
  expect(held.waiting.at(-1)).toMatchObject({
    kind: 'execution',
    reason: { code: 'hold', text: 'Wartet auf das Ende der Änderungssperre' },
  });
});

test('without an agent, an extension that was added during a hold waits once, for the end of the hold', async () => {
  const vm = await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'held' } });
  await door.expect('holdVm', { id: vm.id }, 200, { body: { reason: 'freeze' } });
  const body = { handler: 'Acme.Lab.Mount', version: '1.0.0.0', state: 'enabled' };
  await door.expect('setExtension', { id: vm.id, name: 'mount' }, 200, { body });
  expect(await shown(vm.id)).toEqual({ now: null, next: [], waiting: ['mount install 1 hold', 'mount enable 1 hold'] });
});

test('an agent that restarts its machine runs enable after the restart', async () => {
  const agent = await newAgent();
  const body = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' };
  await door.expect('setExtension', { id: agent.vmId, name: 'probe' }, 200, { body });
  const { turn } = (await (await agent.call('/goal-state')).json()) as { turn: number };
  const facts = {
    work: { ...work(turn, { '1.0.0.0': 'installed' }, { probe: '1.0.0.0' }), commandVersion: '1.0.0.0' },
  };
  const installed = {
    extension: 'probe',
    version: '1.0.0.0',
    sequenceNumber: 1,
    state: 'installed',
    command: 'install',
  };
  const restart = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', extensions: ['probe'], requestedSecondsAgo: 1 };
  const entry = { ...installed, exitCode: 0, output: '', ...facts };
  await send(agent, [entry], { pendingRestart: [{ ...restart, byAgent: true }] });
  expect(await shown(agent.vmId)).toEqual({ now: null, next: [], waiting: ['probe enable 1 restart'] });
  await send(agent, [entry], { pendingRestart: [{ ...restart, byAgent: false }] });
  expect(await shown(agent.vmId)).toEqual({ now: null, next: ['probe enable 1'], waiting: [] });
});
