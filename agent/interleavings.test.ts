import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TestMachine, testMachine } from './testing/machine.ts';

/** How many random interleavings to test; `npm run test:queue` tests 200. */
const interleavings = Number(process.env.ANNEX_QUEUE_HISTORIES ?? 2);
const patienceMs = 120_000;
const handler = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const names = ['a', 'b'] as const;

/** Returns a seeded random number generator, so that an interleaving can be repeated. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** A machine whose portal publishes goal states and queues executions, each with the next turn. */
class Interleaving {
  readonly machine: TestMachine;
  readonly story: string[] = [];
  private readonly log: string;
  private readonly random: (below: number) => number;
  private readonly extensions = new Map<string, number>();
  private turn = 0;
  /** The turns of the queued executions, in order. */
  readonly queued: number[] = [];

  constructor(machine: TestMachine, random: (below: number) => number) {
    this.machine = machine;
    this.log = join(machine.dir, 'order.log');
    this.random = random;
  }

  /** Returns the starts and ends of all processes of the lane, in order. */
  lines(): string[] {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8').trim().split('\n') : [];
  }

  /** Returns a shell script that logs its start and its end. */
  script(what: string): string {
    return `echo begin ${what} >> ${this.log}; sleep 0.05; echo end ${what} >> ${this.log}`;
  }

  act(): void {
    this.turn += 1;
    if (this.random(2) === 0) this.publish();
    else this.queue();
  }

  /** Publishes a goal state in which one extension is added, changed or removed. */
  private publish(): void {
    const name = names[this.random(names.length)] ?? 'a';
    if (this.random(4) === 0) this.extensions.delete(name);
    else this.extensions.set(name, this.turn);
    const goal = [...this.extensions].map(([one, sequenceNumber]) => ({
      ...{ name: one, handler: `${handler.handler}.${one}`, version: handler.version, sequenceNumber },
    }));
    this.machine.portal.setGoal(goal, this.turn);
    this.story.push(`${this.turn} goal state ${[...this.extensions.keys()].join(' ')}`);
  }

  private queue(): void {
    const { turn } = this;
    const fails = this.random(4) === 0;
    this.machine.portal.queue({
      ...{ protocol: 1, id: `execution-${turn}`, stamp: turn, turn, timeoutSeconds: 60, files: {} },
      plan: {
        ...{ FormatVersion: '2.0.0', ID: `plan-${turn}`, Body: fails ? 's()\nraise ValueError()' : 's()\ns()' },
        Scripts: { s: { Type: 'Application', EntryPoint: 'f' } },
        Files: { f: { Name: 's', BodyType: 'Text', Body: this.script(`execution ${turn}`) } },
      },
    });
    this.queued.push(turn);
    this.story.push(`${turn} execution${fails ? ' that fails' : ''}`);
  }

  /** Waits until `count` executions have a result. */
  async results(count: number): Promise<void> {
    const end = Date.now() + patienceMs;
    while (this.machine.portal.executions.results.length < count) {
      if (Date.now() > end) throw new Error(`never ${count} results: ${JSON.stringify([this.story, this.lines()])}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Lets some of the work run before the next step. */
  async pause(): Promise<void> {
    if (this.random(2) === 0) return;
    const { length } = this.machine.portal.executions.results;
    if (length < this.queued.length) await this.results(length + 1);
  }
}

test.each(Array.from({ length: interleavings }, (_, index) => index + 1))(
  'MU-29 at no moment two processes of the lane run, and executions keep their order: interleaving %i',
  async (seed) => {
    const machine = await testMachine();
    try {
      const interleaving = new Interleaving(machine, dice(seed * 7_919));
      for (const name of names) {
        const script = interleaving.script(`$1 ${name}`);
        await machine.addHandler({ ...handler, handler: `${handler.handler}.${name}`, script });
      }
      const agent = await machine.start({ executionPlans: 'on' });
      for (let n = 0; n < 12; n += 1) {
        interleaving.act();
        await interleaving.pause();
      }
      await interleaving.results(interleaving.queued.length);
      await agent.lane.whenIdle();
      const { story } = interleaving;
      const lines = interleaving.lines();
      const about = JSON.stringify({ story, lines }, null, 1);
      expect(lines.length % 2, about).toBe(0);
      for (let index = 0; index < lines.length; index += 2) {
        expect(lines[index + 1], about).toBe(lines[index]?.replace('begin', 'end'));
      }
      const begun = lines.filter((line) => line.startsWith('begin execution')).map((line) => Number(line.slice(16)));
      expect([...new Set(begun)], about).toEqual(interleaving.queued);
    } finally {
      await machine.close();
    }
  },
  patienceMs * 2,
);
