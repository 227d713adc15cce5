import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { AgentMemory, type KnownAgent } from './agent-memory.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const uuidOf = (text: string): string => hashOf(text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

const identity = (vm: string, counter: number) => ({
  vmId: uuidOf(vm),
  vmName: `${vm} in the rack`,
  instanceId: counter % 3 === 0 ? null : `instance:${vm}`,
  counter,
  lastSeenAt: new Date(counter),
  etag: `"${counter % 5}"`,
  logRequests: counter % 2,
  newestLogRequest: counter % 2 === 0 ? null : `request-${counter}`,
  executionStamp: counter % 3,
  executionTurn: counter % 7,
  cancelStamp: counter % 4,
  unitsRevision: counter % 6,
  unitsClocks: counter % 9,
  relations: [counter % 8],
});

/** Returns a seeded random number generator, so that failures can be reproduced. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('after every change, finds the same agents by credential and by VM as a plain map', () => {
  const memory = new AgentMemory(300);
  const model = new Map<string, { vm: string; counter: number }>();
  const random = dice(3);
  for (let turn = 0; turn < 4_000; turn += 1) {
    const vm = `vm-${random(250)}`;
    const hash = hashOf(`${vm} ${random(3)}`);
    const act = random(10);
    if (act < 6) {
      for (const [other, { vm: owner }] of model) if (owner === vm) model.delete(other);
      model.set(hash, { vm, counter: turn });
      memory.remember(hash, identity(vm, turn), 1);
    } else if (act < 7) {
      model.delete(hash);
      memory.forget(hash);
    } else if (act < 8) {
      for (const [other, { vm: owner }] of model) if (owner === vm) model.delete(other);
      memory.forgetVm(uuidOf(vm));
    } else {
      const expected = model.get(hash);
      const found = memory.find(hash);
      const { vmId, vmName, instanceId, counter, logRequests, newestLogRequest, etag } = found ?? {};
      const { executionStamp, executionTurn, cancelStamp } = found ?? {};
      const [unitsRevision, unitsClocks] = (found?.unitsVersion ?? '').split('.').map(Number);
      const relations = Array.from({ length: 8 }, (_, id) => id).filter((id) =>
        memory.vmsOfRelation(id).includes(uuidOf(vm)),
      );
      const units = { unitsRevision, unitsClocks, relations };
      const lastSeenAt = new Date(counter ?? 0);
      const shown = { vmId, vmName, instanceId, counter, lastSeenAt, logRequests, newestLogRequest, etag };
      expect(found && { ...shown, executionStamp, executionTurn, cancelStamp, ...units }).toEqual(
        expected && identity(expected.vm, expected.counter),
      );
      expect(memory.isOfVm(hash, uuidOf(vm))).toBe(expected !== undefined);
    }
    expect(memory.size).toBe(model.size);
  }
});

test('with more agents than rows, each lookup finds the latest entry or none', () => {
  const memory = new AgentMemory(40);
  const newest = new Map<string, number>();
  const random = dice(5);
  const views: { vm: string; view: KnownAgent; turn: number }[] = [];
  for (let turn = 0; turn < 4_000; turn += 1) {
    // Some keys share their last word, so they collide. In real keys, this word is random.
    const vm = `vm-${random(120)}`;
    const hash = `${hashOf(vm).slice(0, 56)}0000000${random(3)}`;
    const act = random(10);
    if (act < 5) {
      const view = memory.remember(hash, identity(vm, turn), 1);
      view.highest = turn;
      newest.set(vm, turn);
      views.push({ vm, view, turn });
    } else if (act < 6) memory.forget(hash);
    else if (act < 7) memory.forgetVm(uuidOf(vm));
    else {
      const found = memory.find(hash);
      if (found !== undefined) {
        expect([found.vmId, found.counter, found.highest]).toEqual([uuidOf(vm), newest.get(vm), newest.get(vm)]);
        expect(memory.isOfVm(hash, uuidOf(vm))).toBe(true);
      }
    }
    expect(memory.size).toBeLessThanOrEqual(40);
    // A handle that outlives its agent refers to that agent or to none, but never to another.
    const old = views[random(views.length)];
    if (old !== undefined) {
      expect(old.view.vmId).toBe(uuidOf(old.vm));
      expect([`"${(newest.get(old.vm) ?? 0) % 5}"`, null]).toContain(old.view.etag);
      old.view.announcedLogRequest = old.vm;
      const now = memory.findByVm(uuidOf(old.vm));
      if (now !== undefined) expect([old.vm, null]).toContain(now.announcedLogRequest);
    }
    if (views.length > 60) views.shift();
  }
});

test('with more agents than rows, agents that called recently are kept', () => {
  const memory = new AgentMemory(100);
  const remember = (vm: string) => memory.remember(hashOf(vm), identity(vm, 1), 1);
  const known = (vm: string) => memory.find(hashOf(vm)) !== undefined;
  for (let vm = 0; vm < 100; vm += 1) remember(`old-${vm}`);
  remember('the hand comes by all');
  for (let vm = 50; vm < 100; vm += 1) known(`old-${vm}`);
  for (let vm = 0; vm < 49; vm += 1) remember(`new-${vm}`);
  expect(memory.size).toBe(100);
  for (let vm = 50; vm < 100; vm += 1) expect(known(`old-${vm}`), `old-${vm}`).toBe(true);
  for (let vm = 0; vm < 49; vm += 1) expect(known(`new-${vm}`), `new-${vm}`).toBe(true);
});

test('a call whose agent was evicted keeps its identity, and changes no other agent', () => {
  const memory = new AgentMemory(1);
  const before = memory.remember(hashOf('a'), identity('a', 7), 1);
  const after = memory.remember(hashOf('b'), identity('b', 8), 1);
  before.left = 1;
  before.highest = 99;
  before.announcedLogRequest = 'a request';
  expect([before.vmId, before.vmName, before.instanceId]).toEqual([uuidOf('a'), 'a in the rack', 'instance:a']);
  expect(before.etag).toBeNull();
  expect([after.left, after.highest, after.announcedLogRequest, after.etag]).toEqual([
    Number.POSITIVE_INFINITY,
    -1,
    null,
    '"3"',
  ]);
});

test('reading an agent again keeps its call counter; a new credential resets it', () => {
  const memory = new AgentMemory(10);
  const agent = memory.remember(hashOf('a'), identity('a', 1), 1);
  agent.highest = 12;
  memory.moveOn(uuidOf('a'));
  expect(memory.find(hashOf('a'))?.etag).toBeNull();
  expect(memory.remember(hashOf('a'), identity('a', 2), 2)).toMatchObject({ highest: 12, etag: '"2"', epoch: 2 });
  expect(memory.remember(hashOf('a, enrolled again'), identity('a', 3), 2).highest).toBe(-1);
  expect(memory.find(hashOf('a'))).toBeUndefined();
});

test('announces each change of the waiting executions once', () => {
  const memory = new AgentMemory(2);
  const news = (executionStamp: number, cancelStamp: number) =>
    memory.remember(hashOf('a'), { ...identity('a', 1), executionStamp, cancelStamp }, 1);
  expect(news(0, 0).hasUnannouncedExecution).toBe(false);
  const agent = news(5, 0);
  expect(agent.hasUnannouncedExecution).toBe(true);
  agent.noteExecutionsAnnounced();
  expect([agent.hasUnannouncedExecution, news(5, 0).hasUnannouncedExecution]).toEqual([false, false]);
  expect(news(5, 4).hasUnannouncedExecution, 'an execution to end').toBe(true);
  agent.noteExecutionsAnnounced();
  expect(news(6, 4).hasUnannouncedExecution, 'another execution').toBe(true);
});
