import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getInstanceView } from '#server/domain/views/index.ts';
import { signal } from '#server/platform/processes.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { numberFrom, randomFrom } from '../load/schedule.ts';
import { judgeCalls, readCalls } from './call-log.ts';
import { SoakExecutions } from './executions.ts';
import { changeGoal, contextOf, handlerOf, learn, publishHandlers, type Wanted } from './goals.ts';
import { readHookRecords } from './hook-records.ts';
import { SoakMachine } from './machines.ts';
import { changeSetting, createMachines, deployServices, settleUnits } from './units.ts';

export interface SoakOptions {
  deployment: Deployment;
  agents: number;
  /** Root of the Annex checkout whose agent runs. */
  agentRoot: string;
  minutes: number;
  seed: string;
  undo: Set<() => Promise<unknown>>;
  say(line: string): void;
}

export interface SoakResult {
  minutes: number;
  changes: number;
  /** Number of changes of the settings of services. */
  settings: number;
  /** Number of executions of five calls that were queued. */
  executions: number;
  kills: Record<string, number>;
  calls: number;
  /** Seconds from the last change or kill until every VM was at its goal; null if any VM did not reach it in time. */
  settledAfter: number | null;
  /** Violations of the handler contract; each names its VM. */
  outOfOrder: string[];
  /**
   * Differences from the goal, and reports or outputs that did not arrive; each names its VM. Also differences between
   * the settings of units and what their hooks wrote down, and executions that did not succeed with each call run once.
   */
  notAtGoal: string[];
  /** Number of agents that exited without being killed. */
  endedByThemselves: number;
  folder: string;
}

const settleSeconds = 240;
/** How long reports and outputs may take to arrive after every VM is at its goal. */
const uploadSeconds = 60;

interface Vm {
  name: string;
  machine: SoakMachine;
  wanted: Wanted;
}

/**
 * Changes goal states and settings of services, and queues executions, at random while killing agents, gateway, worker
 * and database. In the end, every VM must be at its goal, the portal must have exactly what the hooks of each unit wrote
 * down, and each execution must have run each of its calls once.
 */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { deployment, minutes, seed, undo, say } = options;
  const folder = mkdtempSync(join(tmpdir(), 'annex-soak-'));
  const vms = await openVms(options, folder);
  undo.add(() => Promise.all(vms.map(({ machine }) => machine.stop())));
  const began = performance.now();
  const hasTimeLeft = () => performance.now() - began < minutes * 60_000;
  const executions = new SoakExecutions(deployment.services);
  let [changes, settings] = [0, 0];
  const kills: Record<string, number> = {};

  const changing = async () => {
    const random = randomFrom(numberFrom(`${seed} goals`));
    while (hasTimeLeft()) {
      const vm = vms[Math.floor(random() * vms.length)] as Vm;
      if (random() < 0.2 && (await changeSetting(deployment.services, random))) settings += 1;
      if (random() < 0.2) await executions.queue(vm.machine.vmId, folder);
      if (await changeGoal(deployment.services, vm.machine.vmId, vm.wanted, random)) changes += 1;
      await delay(200 + random() * 1_500);
    }
  };
  const killing = async () => {
    const random = randomFrom(numberFrom(`${seed} kills`));
    while (hasTimeLeft()) {
      await delay(1_000 + random() * 4_000);
      const what = await kill(deployment, vms, random);
      if (what !== null) kills[what] = (kills[what] ?? 0) + 1;
    }
  };
  const reporting = async () => {
    for (let next = 60_000; hasTimeLeft(); ) {
      await delay(1_000);
      if (performance.now() - began < next) continue;
      next += 60_000;
      say(
        `${changes} changes, ${settings} of settings, ${Object.entries(kills)
          .map(([what, count]) => `${count} × ${what}`)
          .join(', ')}`,
      );
    }
  };
  await Promise.all([changing(), killing(), reporting()]);
  say(`${changes} changes made; now everything has ${settleSeconds} s to arrive.`);
  const { settledAfter, notAtGoal } = await settle(deployment, vms);
  const records = () => new Map(vms.flatMap(({ machine }) => [...readHookRecords(machine.folder)]));
  notAtGoal.push(...(await settleUnits(deployment.services, settleSeconds, records)));
  notAtGoal.push(...(await executions.settle(settleSeconds)));
  await untilUploaded(vms);
  const endedByThemselves = vms.filter(({ machine }) => machine.hasEnded()).length;
  await Promise.all(vms.map(({ machine }) => machine.stop()));
  return {
    minutes: (performance.now() - began) / 60_000,
    changes,
    settings,
    executions: executions.count,
    kills,
    ...judge(vms, notAtGoal),
    settledAfter,
    endedByThemselves,
    folder,
  };
}

async function openVms({ deployment, agents, agentRoot }: SoakOptions, folder: string): Promise<Vm[]> {
  await publishHandlers(deployment.services);
  const [gateway] = deployment.gateways;
  const portal = `http://${gateway?.host}:${gateway?.port}`;
  const vms: Vm[] = [];
  const machines = await createMachines(deployment.services, agents);
  for (const { vm: name, vmId, enrollmentToken, instanceId: id, assignedAddress: address } of machines) {
    const machine = new SoakMachine(vmId, join(folder, name), agentRoot);
    await machine.enroll(portal, enrollmentToken, { id, address });
    machine.start();
    vms.push({ name, machine, wanted: new Map() });
  }
  await deployServices(deployment.services, machines);
  return vms;
}

/**
 * Kills one process with `kill -9`, usually an agent, whose handlers continue to run. Returns the kind of process, or
 * null if none was killed.
 */
async function kill(deployment: Deployment, vms: readonly Vm[], random: () => number): Promise<string | null> {
  const dice = random();
  if (dice < 0.7) {
    const vm = vms[Math.floor(random() * vms.length)] as Vm;
    return (await vm.machine.kill(random() * 2_000)) ? 'agent' : null;
  }
  const [what, pid] =
    dice < 0.82
      ? (['gateway', deployment.gateways[0]?.child.pid()] as const)
      : dice < 0.9
        ? (['worker', deployment.worker()?.pid()] as const)
        : (['database', deployment.database.pid()] as const);
  if (pid === undefined) return null;
  signal(pid, 'SIGKILL');
  return what;
}

/**
 * Waits, for a limited time, until the portal shows every VM at its goal. Returns how long that took, or the remaining
 * differences.
 */
async function settle(
  deployment: Deployment,
  vms: readonly Vm[],
): Promise<Pick<SoakResult, 'settledAfter' | 'notAtGoal'>> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  for (const { machine, wanted } of vms) await learn(deployment.services, machine.vmId, wanted);
  for (;;) {
    const notAtGoal = (await Promise.all(vms.map((vm) => differencesFromGoal(deployment, vm)))).flat();
    if (notAtGoal.length === 0) return { settledAfter: seconds(), notAtGoal };
    if (seconds() > settleSeconds) return { settledAfter: null, notAtGoal };
    await delay(1_000);
  }
}

const uploadFolders = ['reports', 'uploads'] as const;

/**
 * Waits, for a limited time, until each agent's upload folders have been empty at least once. The agents continue to
 * report, so a folder that was empty is not checked again.
 */
async function untilUploaded(vms: readonly Vm[]): Promise<void> {
  const end = performance.now() + uploadSeconds * 1_000;
  for (const { machine } of vms) {
    for (const folder of uploadFolders) {
      while (machine.waitingIn(folder) > 0 && performance.now() < end) await delay(200);
    }
  }
}

async function differencesFromGoal(deployment: Deployment, { name, machine, wanted }: Vm): Promise<string[]> {
  try {
    const { extensions } = await getInstanceView(contextOf(deployment.services), { vmId: machine.vmId });
    const known = new Map(extensions.map((extension) => [extension.name, extension]));
    const missing = [...wanted.keys()].filter((each) => !known.has(each)).map((each) => `${each} is not on it`);
    const wrong = extensions.flatMap(({ goal, goalSequenceNumber, goalVersion, version, handlerState, ...one }) => {
      const { state, sequenceNumber } = handlerState ?? {};
      const isThere = state === goal && sequenceNumber === goalSequenceNumber && version === goalVersion;
      const actual = `${state} ${version} ${sequenceNumber}, wanted ${goal} ${goalVersion} ${goalSequenceNumber}`;
      return isThere ? [] : [`${one.name} is ${actual}`];
    });
    return [...missing, ...wrong].map((line) => `${name}: ${line}`);
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : error}`];
  }
}

/**
 * Checks that the handlers' logs show no violation of the contract and end at the goal, and that nothing is left to
 * upload.
 */
function judge(vms: readonly Vm[], notAtGoal: string[]): Pick<SoakResult, 'calls' | 'outOfOrder' | 'notAtGoal'> {
  const outOfOrder: string[] = [];
  const away = [...notAtGoal];
  let count = 0;
  for (const { name, machine, wanted } of vms) {
    const calls = readCalls(join(machine.folder, 'logs'));
    count += calls.length;
    const { faults, versionStates } = judgeCalls(calls);
    outOfOrder.push(...faults.map((fault) => `${name}: ${fault}`));
    const expected = new Map([...wanted].map(([extension, goal]) => [handlerOf(extension), goal]));
    for (const folder of uploadFolders) {
      const waiting = machine.waitingIn(folder);
      if (waiting > 0) away.push(`${name}: ${waiting} of its ${folder} did not reach the portal`);
    }
    for (const handler of new Set([...versionStates.keys(), ...expected.keys()])) {
      const goal = expected.get(handler);
      const stands = [...(versionStates.get(handler) ?? [])].map(([version, how]) => `${version} ${how}`).join(', ');
      const should = goal === undefined ? '' : `${goal.version} ${goal.state === 'enabled' ? 'runs' : 'rests'}`;
      if (stands !== should) away.push(`${name}: of ${handler} ${stands || 'nothing'}, wanted ${should || 'nothing'}`);
    }
  }
  return { calls: count, outOfOrder, notAtGoal: away };
}
