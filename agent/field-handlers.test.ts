import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FieldGoal, type FieldStep, fieldHandlers } from '#samples/field/behaviours.ts';
import { fieldPackage } from '#samples/field/package.ts';
import type { GoalInput } from './testing/fake-portal.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';
import { sealedFor } from './testing/seal.ts';

let machine: TestMachine;
let waagentFolder: string;
beforeEach(async () => {
  machine = await testMachine();
  waagentFolder = mkdtempSync(join(tmpdir(), 'annex-waagent-'));
});
afterEach(async () => {
  await machine.close();
  rmSync(waagentFolder, { recursive: true, force: true });
});

/** A test machine for one of the field handlers: sets the handler's goals and reads its log. */
class FieldMachine {
  private readonly handler: string;
  private readonly goals = new Map<string, GoalInput>();
  private seenCalls = 0;

  constructor(handler: string) {
    this.handler = handler;
  }

  async publish(version: string): Promise<void> {
    machine.portal.addPackage(this.handler, version, await fieldPackage(this.handler, { version, waagentFolder }));
  }

  declare({ extension: name = 'field', goal }: FieldStep): number {
    const before = this.goals.get(name);
    const sequenceNumber = (before?.sequenceNumber ?? 0) + 1;
    const asked = goal === 'remove' ? { ...before, state: 'uninstall' as const } : this.contentsOf(goal);
    const next = { ...asked, name, handler: this.handler, version: asked.version ?? '', sequenceNumber };
    this.goals.set(name, next);
    machine.portal.setGoal([...this.goals.values()]);
    return sequenceNumber;
  }

  /** Removes an extension from the goal state, as the portal does after its uninstall. */
  forget(name: string): void {
    this.goals.delete(name);
  }

  private contentsOf({ version, state = 'enabled', publicSettings = {}, protectedSettings }: FieldGoal) {
    const sealed = protectedSettings === undefined ? {} : sealedFor(machine.dir, protectedSettings);
    return { version, state, settings: { publicSettings, ...sealed } };
  }

  newCalls(): string[] {
    const logs = join(machine.dir, 'logs');
    const lines = readdirSync(logs)
      .filter((name) => name.startsWith(`${this.handler}-`))
      .map((name) => join(logs, name, 'calls.log'))
      .filter((file) => existsSync(file))
      .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .sort()
      .map((line) => line.slice(line.indexOf(' ') + 1));
    const fresh = lines.slice(this.seenCalls);
    this.seenCalls = lines.length;
    return fresh;
  }
}

const lastEntry = (name: string, sequence: number) =>
  machine.portal.reports
    .flatMap(({ handlers }) => handlers)
    .findLast((one) => one.extension === name && one.sequenceNumber === sequence);

interface WrittenStatus {
  status: string;
  formattedMessage: { message: string };
  substatus: { name: string; status: string }[];
}

const lastStatus = (name: string, sequence: number): WrittenStatus | undefined =>
  machine.portal.reports
    .flatMap(({ statuses }) => statuses)
    .findLast((one) => one.extension === name && one.sequenceNumber === sequence)?.file[0]?.status as unknown as
    | WrittenStatus
    | undefined;

async function see(step: FieldStep, sequence: number): Promise<void> {
  const { extension: name = 'field', state, exitCode, status, substatus } = step;
  const what = `${name} ${state} ${sequence}`;
  const entry = await machine.portal.until(what, () => {
    const last = lastEntry(name, sequence);
    const isFinal = last?.state === state || last?.state === 'failed';
    return isFinal && last;
  });
  expect(entry.state, entry.output).toBe(state);
  if (exitCode !== undefined) expect(entry.exitCode).toBe(exitCode);
  if (status !== undefined) {
    const seen = await machine.portal.until(`${what}: ${status.message}`, () => {
      const last = lastStatus(name, sequence);
      return last?.status !== 'transitioning' && last;
    });
    expect({ status: seen.status, message: seen.formattedMessage.message }).toEqual(status);
  }
  if (step.heartbeat !== undefined) {
    await machine.portal.until(`${what}: heartbeat`, () =>
      machine.portal.reports.some(({ heartbeats }) => JSON.stringify(heartbeats).includes(`"${step.heartbeat}"`)),
    );
  }
  if (substatus !== undefined) {
    await machine.portal.until(`${what}: ${substatus.name}`, () =>
      lastStatus(name, sequence)?.substatus.some((one) => one.status === substatus.status),
    );
  }
}

describe('handlers written for the stock agent run unchanged', () => {
  test.each(fieldHandlers)('$handler, like $like: $reliesOn', async ({ handler, steps }) => {
    const life = new FieldMachine(handler);
    const versions = steps.flatMap(({ goal }) => (goal === 'remove' ? [] : [goal.version]));
    for (const version of new Set(versions)) await life.publish(version);
    await machine.start({ environment: { PATH: process.env.PATH }, waagentFolder, heartbeatSeconds: 1 });
    for (const step of steps) {
      const sequence = life.declare(step);
      await see(step, sequence);
      expect(life.newCalls()).toEqual(step.calls);
      if (step.goal === 'remove') life.forget(step.extension ?? 'field');
    }
  });
});
