import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShownQueue } from '#server/i18n/index.ts';
import { type AgentDoor, openAgentDoor } from '#server/testing/agent-door.ts';
import { agentProgram } from '#server/testing/agent-program.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { sampleManifest, samplePackage } from '#server/testing/sample-package.ts';

/** How many random histories to test; `npm run test:queue` tests 200. */
const histories = Number(process.env.ANNEX_QUEUE_HISTORIES ?? 1);
const patienceMs = 60_000;
const types = ['Aa', 'Bb', 'Cc'] as const;
const versions = ['1.0', '2.0'] as const;

/** Logs the command, waits until it is released, and exits with the given code. `enable` also writes a status. */
const script = (type: string, version: string, command: string) => `#!/bin/sh
D="$PWD/../../turns"
echo "${command} ${version} of ${type}" >> "$D/started"
until [ -e "$D/go" ]; do sleep 0.02; done
code=$(cat "$D/go"); rm "$D/go"
n=$(ls config | sed -n 's/^\\([0-9]*\\)[.]settings$/\\1/p' | sort -n | tail -1)
if [ ${command} = enable ] && [ "$code" = 0 ]; then
  echo '[{"version":1.0,"timestampUTC":"2026-01-01T00:00:00Z","status":{"operation":"enable","status":"success","code":0}}]' > "status/$n.status"
fi
exit "$code"
`;

let door: RestDoor;
let agents: AgentDoor;
const running = new Set<Machine>();

beforeAll(async () => {
  door = await openRestDoor({ config: { vmRate: 0 } });
  agents = await openAgentDoor(door.services);
  const publisher = { namespace: 'Acme.Lab', displayName: 'Acme' };
  await expectSuccess(await door.call('POST', '/publishers', { body: publisher }));
  for (const type of types) {
    for (const version of versions) {
      const commands = ['install', 'uninstall', 'update', 'enable', 'disable'];
      const files = Object.fromEntries(commands.map((name) => [`bin/${name}.sh`, script(type, version, name)]));
      const body = await samplePackage(sampleManifest({ reportHeartbeat: false }), files);
      const path = `/handlers/Acme.Lab.${type}/versions/${version}`;
      await expectSuccess(await door.call('PUT', `${path}/package`, { body }));
      await expectSuccess(await door.call('POST', `${path}/publish`));
    }
  }
});
afterAll(async () => {
  await Promise.all([...running].map((machine) => machine.remove()));
  await agents.close();
  await door.close();
});

const expectSuccess = async ({ status, text }: { status: number; text: string }) =>
  expect(status, text).toBeLessThan(300);

async function until<T>(what: () => string | Promise<string>, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never seen: ${await what()}`);
    await new Promise((done) => setTimeout(done, 15));
  }
}

/** A machine with an agent. Its handlers' commands run until the test releases them. */
class Machine {
  readonly dir = mkdtempSync(join(tmpdir(), 'annex-turns-'));
  private child: ChildProcess | null = null;

  static async enroll(token: string): Promise<Machine> {
    const machine = new Machine();
    running.add(machine);
    mkdirSync(join(machine.dir, 'turns'), { recursive: true });
    const portal = agents.url.replace('/agent/v1', '');
    await once(machine.spawn(['enroll', '--portal', portal, '--token', token]), 'exit');
    machine.child = machine.spawn(['run', '--status-seconds', '1']);
    return machine;
  }

  /** Kills the agent and starts it again. A running command continues. */
  async restart(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
    this.child = this.spawn(['run', '--status-seconds', '1']);
  }

  /** Returns the commands that have started, in order. */
  started(): string[] {
    const file = join(this.dir, 'turns', 'started');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  unsentReports(): number {
    const folder = join(this.dir, 'reports');
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')).length : 0;
  }

  /** Returns the incarnation of the goal state that the agent last stored; null if there is none. */
  incarnation(): number | null {
    const file = join(this.dir, 'state', 'goal-state.json');
    if (!existsSync(file)) return null;
    const { text } = JSON.parse(readFileSync(file, 'utf8')) as { text: string };
    return (JSON.parse(text) as { incarnation: number }).incarnation;
  }

  /** Lets the running command end. The rename keeps the command from reading a file that is still empty. */
  release(exitCode: number): void {
    const file = join(this.dir, 'turns', 'go');
    writeFileSync(`${file}.new`, `${exitCode}`);
    renameSync(`${file}.new`, file);
  }

  async remove(): Promise<void> {
    running.delete(this);
    if (this.child?.exitCode === null && this.child.kill('SIGTERM')) await once(this.child, 'exit');
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 });
  }

  private spawn(args: string[]): ChildProcess {
    return spawn(process.execPath, [agentProgram(), ...args, '--dir', this.dir], {
      env: { ...process.env, ANNEX_AGENT_WAAGENT_FOLDER: 'none' },
      stdio: 'ignore',
    });
  }
}

const sentenceOf = ({ step, version, handler }: ShownQueue['next'][number]) =>
  `${step} ${version} of ${handler?.replace('Acme.Lab.', '')}`;

/** A VM with its agent, and the random changes that operators make to it. */
class History {
  private readonly vmId: string;
  private readonly machine: Machine;
  private readonly random: (below: number) => number;
  /** Number of commands that have been released. */
  private ended = 0;
  /** Start time of the command that was released last, as the queue showed it. */
  private endedSince: string | null = null;
  private isHeld = false;
  readonly story: string[] = [];

  constructor(vmId: string, machine: Machine, random: (below: number) => number) {
    this.vmId = vmId;
    this.machine = machine;
    this.random = random;
  }

  queue(): Promise<ShownQueue> {
    return door.expect<ShownQueue>('getVmQueue', { id: this.vmId }, 200);
  }

  /** Waits until a command is running and the queue shows it, or until nothing can run. Returns the queue. */
  async settled(): Promise<ShownQueue> {
    const what = async () =>
      JSON.stringify(
        { story: this.story, started: this.machine.started(), ended: this.ended, page: await this.queue() },
        null,
        1,
      );
    return until(what, async () => {
      const begun = this.machine.started();
      if (this.machine.unsentReports() > 0) return null;
      const page = await this.queue();
      if (begun.length > this.ended) {
        // The same command can run twice in a row.
        const { now } = page;
        return now !== null && now.since !== this.endedSince && sentenceOf(now) === begun.at(-1) ? page : null;
      }
      const isOver = page.now === null && page.next.length === 0;
      // Until the agent has called the portal and downloaded its packages, more commands can start.
      const isOpen = page.waiting.some(({ reason }) => reason?.code === 'download' || reason?.code === 'never');
      return isOver && !isOpen ? page : null;
    });
  }

  /** Waits until the agent has the current goal state, which it processes after the running command. */
  private async delivered(): Promise<void> {
    if (this.isHeld) return;
    await until(
      () => 'the newest goal state',
      async () => {
        const { incarnation } = await door.expect<{ incarnation: number }>('getGoalState', { id: this.vmId }, 200);
        return this.machine.incarnation() === incarnation;
      },
    );
  }

  /** Declares an extension and waits until its first command runs, so that every history has something to check. */
  async begin(): Promise<void> {
    await this.declare('Aa');
    this.story.push('declare Aa');
    await this.delivered();
    await this.settled();
  }

  async act(): Promise<void> {
    const type = types[this.random(types.length)] ?? 'Aa';
    const act = this.random(8);
    if (act < 4) await this.declare(type);
    else if (act === 4) await this.remove(type);
    else if (act === 5) await this.toggleHold();
    else if (act === 6) await this.revert();
    this.story.push(`act ${act} ${type}`);
  }

  private async declare(type: (typeof types)[number]): Promise<void> {
    const below = types.slice(0, types.indexOf(type));
    const { extensions } = await door.expect<{ extensions: { name: string }[] }>(
      'getInstanceView',
      { id: this.vmId },
      200,
    );
    const dependsOn = below.filter((name) => this.random(2) === 0 && extensions.some((one) => one.name === name));
    const version = versions[this.random(versions.length)];
    const state = this.random(4) === 0 ? 'disabled' : 'enabled';
    const settings = { publicSettings: { n: this.random(1_000) } };
    const body = { handler: `Acme.Lab.${type}`, version, state, dependsOn, settings };
    await door.call('PUT', `/vms/${this.vmId}/extensions/${type}`, { body });
  }

  private async remove(type: string): Promise<void> {
    await door.call('DELETE', `/vms/${this.vmId}/extensions/${type}`);
  }

  private async toggleHold(): Promise<void> {
    this.isHeld = !this.isHeld;
    if (this.isHeld) await door.expect('holdVm', { id: this.vmId }, 200, { body: { reason: 'a break' } });
    else await door.expect('releaseHold', { id: this.vmId }, 204);
  }

  private async revert(): Promise<void> {
    const { incarnation } = await door.expect<{ incarnation: number }>('getInstanceView', { id: this.vmId }, 200);
    const to = Math.max(1, incarnation - 1 - this.random(3));
    await door.call('POST', `/vms/${this.vmId}/goal-states/${to}/revert`);
  }

  /** Ends the running command, and checks that the next one is a command that the queue allows. */
  async step(): Promise<void> {
    await this.settled();
    for (let acts = this.random(3); acts > 0; acts -= 1) await this.act();
    await this.delivered();
    const page = await this.settled();
    const begun = this.machine.started();
    if (begun.length === this.ended) return;
    if (this.random(8) === 0) {
      await this.machine.restart();
      this.story.push('restart');
    }
    const failed = this.random(6) === 0 ? page.now?.name : undefined;
    this.ended = begun.length;
    this.endedSince = page.now?.since ?? null;
    this.machine.release(failed === undefined ? 0 : 1);
    this.story.push(`ended ${begun.at(-1)}${failed ? ' with 1' : ''}`);
    const isRestarted = this.story.at(-2) === 'restart';
    const after = await this.settled();
    const next = this.machine.started()[this.ended];
    // A restarted agent begins a new round, so the next command is not predictable.
    if (next === undefined || isRestarted) return;
    const released = page.waiting
      .filter(({ reason }) => reason?.code === 'download' || reason?.code.startsWith('dependency'))
      .map(sentenceOf);
    const expected = [...this.expected(page, failed, next), ...released];
    const why = JSON.stringify({ story: this.story, page, after }, null, 1);
    if (failed === undefined || expected.length > 0) expect(expected, why).toContain(next);
  }

  /**
   * Returns the commands that may follow the running command. The queue assumes that the running command succeeds. After
   * a failure, the agent continues as follows:
   * - A removal or replacement continues after a failed disable or uninstall (AZ-G5).
   * - Any other failure cancels the remaining commands of that extension.
   * - A newer goal state is planned from what the failure left behind, so the failed extension may get commands that
   *   the queue did not show. The commands of other extensions keep their order.
   */
  private expected({ now, next, waiting }: ShownQueue, failed: string | undefined, started: string): string[] {
    const [first] = next;
    if (failed === undefined) return first ? [sentenceOf(first)] : [];
    const others = next.filter(({ name }) => name !== failed);
    if ([...next, ...waiting].some(({ turn }) => turn !== now?.turn)) {
      const isReplanned = started.endsWith(` of ${failed}`);
      return [...others.slice(0, 1).map(sentenceOf), ...(isReplanned ? [started] : [])];
    }
    const continues = now?.step === 'disable' || now?.step === 'uninstall';
    return (continues ? next : others).slice(0, 1).map(sentenceOf);
  }
}

/** Returns a seeded random number generator, so that a history can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test.concurrent.each(Array.from({ length: histories }, (_, index) => index + 1))(
  'commands start in the order that the page has shown: history %i',
  async (seed) => {
    const vm = await door.expect<{ id: string; enrollmentToken: string }>('createVm', {}, 201, {
      body: { name: `turns-${seed}` },
    });
    const machine = await Machine.enroll(vm.enrollmentToken);
    const history = new History(vm.id, machine, randomOf(seed * 7_919));
    try {
      await history.begin();
      for (let n = 0; n < 3; n += 1) await history.act();
      for (let n = 0; n < 10; n += 1) await history.step();
      expect(history.story.length).toBeGreaterThan(5);
      expect(machine.started().length).toBeGreaterThan(0);
    } finally {
      machine.release(0);
      await machine.remove();
    }
  },
  300_000,
);
