import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandNames } from '#protocol/index.ts';
import { visitCrashPoints } from './folder/crash-point.ts';
import { layoutOf } from './folder/layout.ts';
import { readLocalState } from './goal/local-state.ts';
import { isWhole, liveUntilKilled, memoryAgent, writeIdentity } from './testing/crash-life.ts';
import { zipOf } from './testing/fake-handler.ts';
import { type MemoryGoal, MemoryPortal } from './testing/memory-portal.ts';
import type { Agent } from './work/agent.ts';

/*
 * These tests stop the agent between two persistent effects: from the n-th point on, nothing that the agent does reaches
 * the disk, the handlers or the portal, as after kill -9. Each test then starts the agent again. `npm run test:crashes`
 * stops it at every point, `npm run test:all` at every seventh point. The tests use /dev/shm if possible, because syncing the files
 * of hundreds of runs to a disk would be slow.
 */
const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'annex-crash-'));
const callsFile = join(base, 'calls.log');
const mount = { name: 'mount', handler: 'Acme.Test.Mount' };
const echo = { name: 'echo', handler: 'Acme.Test.Echo', dependsOn: ['mount'] };
const reboot = { name: 'reboot', handler: 'Acme.Test.Reboot' };
/** File that the agent reads instead of the machine's boot id. */
const bootIdFile = join(base, 'boot-id');
const rebootCommand = `echo restart >> ${callsFile}; echo restarted > ${bootIdFile}`;
const enabled: MemoryGoal[] = [
  { ...echo, version: '1.0' },
  { ...mount, version: '1.0' },
];

/** The agent's warnings, which help explain a failed run. */
let warnings: string[] = [];

interface Stage {
  name: string;
  goal: MemoryGoal[];
  /** Expected calls of a run without interruption. */
  calls: string[];
  /** Calls that may be repeated after the agent was stopped. No other call may be repeated. */
  again: string[];
  /** Expected last reported state of each extension. */
  states: string[];
  /** Handlers that are installed at the end. */
  installed: string[];
  /** Whether the agent may restart the machine, which changes the boot id. */
  restarts?: true;
}

/** Each stage starts where the previous stage ended. */
const stages: Stage[] = [
  {
    name: 'AZ-G1 two extensions, one after the other',
    goal: enabled,
    calls: ['Mount-1.0 install', 'Mount-1.0 enable', 'Echo-1.0 install', 'Echo-1.0 enable'],
    again: ['Mount-1.0 enable', 'Echo-1.0 enable'],
    states: ['mount enabled 1', 'echo enabled 1'],
    installed: ['Acme.Test.Mount-1.0', 'Acme.Test.Echo-1.0'],
  },
  {
    name: 'AZ-G7 a newer version',
    goal: [{ ...echo, version: '1.1', dependsOn: [] }],
    calls: ['Echo-1.0 disable', 'Echo-1.1 update', 'Echo-1.0 uninstall', 'Echo-1.1 enable'],
    again: ['Echo-1.0 disable', 'Echo-1.1 enable'],
    states: ['echo enabled 2'],
    installed: ['Acme.Test.Mount-1.0', 'Acme.Test.Echo-1.1'],
  },
  {
    name: 'AZ-G5 remove',
    goal: [{ ...echo, version: '1.1', state: 'uninstall', dependsOn: [] }],
    calls: ['Echo-1.1 disable', 'Echo-1.1 uninstall'],
    again: ['Echo-1.1 disable'],
    states: ['echo removed 3'],
    installed: ['Acme.Test.Mount-1.0'],
  },
  {
    name: 'AZ-G8 an install that asks for a restart',
    goal: [{ ...reboot, version: '1.0' }],
    calls: ['Reboot-1.0 install', 'restart', 'Reboot-1.0 enable'],
    again: ['Reboot-1.0 enable'],
    states: ['reboot enabled 4'],
    installed: ['Acme.Test.Mount-1.0', 'Acme.Test.Reboot-1.0'],
    restarts: true,
  },
];

let packages: { handler: string; version: string; zip: Buffer }[] = [];

beforeAll(async () => {
  const all = [
    { handler: mount.handler, version: '1.0' },
    { handler: echo.handler, version: '1.0' },
    { handler: echo.handler, version: '1.1' },
    { handler: reboot.handler, version: '1.0', rebootAfterInstall: true },
  ];
  packages = await Promise.all(all.map(async (one) => ({ ...one, zip: await packageOf(one) })));
  writeIdentity(join(base, 'before-0'));
});
afterAll(() => {
  visitCrashPoints(null);
  rmSync(base, { recursive: true, force: true });
});

interface Package {
  handler: string;
  version: string;
  rebootAfterInstall?: boolean;
}

/** Builds a handler whose commands only log themselves and start no program, because they run a thousand times. */
async function packageOf({ handler, version, rebootAfterInstall = false }: Package): Promise<Buffer> {
  const name = `${handler.split('.').at(-1)}-${version}`;
  const commands = commandNames.map((command) => [`${command}Command`, `echo ${name} ${command} >> ${callsFile}`]);
  const handlerManifest = { ...Object.fromEntries(commands), rebootAfterInstall, reportHeartbeat: false };
  return await zipOf({ 'HandlerManifest.json': JSON.stringify([{ version: 1.0, handlerManifest }]) });
}

/**
 * Runs the agent in a folder until it reaches its goal or is stopped at the n-th point. Returns the points that it
 * passed.
 */
function live(
  folder: string,
  portal: MemoryPortal,
  stage: Stage,
  killAt = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const options = { portal, bootIdFile, ...(stage.restarts && { rebootCommand }) };
  const work = async (agent: Agent) => {
    await agent.start();
    await agent.lane.whenIdle();
    await agent.reportEverything(5);
  };
  return liveUntilKilled(() => memoryAgent(folder, warnings, options), work, { killAt });
}

/** Like `live`, but also performs the machine restart that a stage requires. */
async function lives(
  folder: string,
  portal: MemoryPortal,
  stage: Stage,
  killAt = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const points = await live(folder, portal, stage, killAt);
  if (points.includes('restarting')) await untilRestarted();
  if (points.length >= killAt || !points.includes('restarting')) return points;
  return [...points, ...(await live(folder, portal, stage, killAt - points.length))];
}

async function untilRestarted(): Promise<void> {
  const end = Date.now() + 5_000;
  while (readFileSync(bootIdFile, 'utf8') !== 'restarted\n') {
    if (Date.now() > end) throw new Error('the machine did not restart');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const callsNow = () => (existsSync(callsFile) ? readFileSync(callsFile, 'utf8').trim().split('\n') : []);

/** Expects the stage's calls in the stage's order. Calls in `again` may be repeated. */
function expectLegal(calls: string[], { calls: expected, again }: Stage): void {
  expect(calls.filter((call, index) => calls.indexOf(call) === index)).toEqual(expected);
  const repeated = calls.filter((call, index) => calls.indexOf(call) !== index);
  for (const call of repeated) expect(again).toContain(call);
}

function expectReached(folder: string, portal: MemoryPortal, stage: Stage): void {
  for (const states of stage.states) {
    const [extension = ''] = states.split(' ');
    expect(portal.states.filter((line) => line.startsWith(`${extension} `)).at(-1)).toBe(states);
  }
  const { handlers } = readLocalState(layoutOf(folder));
  const installed = Object.entries(handlers).flatMap(([handler, { versions }]) =>
    Object.entries(versions).map(([version, facts]) => (facts.installed ? `${handler}-${version}` : 'not installed')),
  );
  expect(installed.sort()).toEqual([...stage.installed].sort());
  expect(readdirSync(join(folder, 'handlers')).sort()).toEqual([...stage.installed].sort());
  expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
}

describe.each(stages.map((stage, index) => ({ stage, index, title: stage.name })))('$title', ({ stage, index }) => {
  test('an agent that was stopped at any point continues and reaches its goal', { timeout: 120_000 }, async () => {
    const before = join(base, `before-${index}`);
    const after = join(base, `before-${index + 1}`);
    const portalOf = () => new MemoryPortal(index + 1, stage.goal, packages);
    // Runs without interruption, to count the points and to prepare the next stage.
    cpSync(before, after, { recursive: true });
    rmSync(callsFile, { force: true });
    writeFileSync(bootIdFile, 'first\n');
    const whole = portalOf();
    const points = await lives(after, whole, stage);
    expect(callsNow()).toEqual(stage.calls);
    expectReached(after, whole, stage);
    expect(points.length).toBeGreaterThan(40);

    for (let killAt = 1; killAt <= points.length; killAt += isWhole ? 1 : 7) {
      const folder = join(base, 'run');
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      cpSync(before, folder, { recursive: true });
      rmSync(callsFile, { force: true });
      writeFileSync(bootIdFile, 'first\n');
      warnings = [];
      const portal = portalOf();
      const passed = await lives(folder, portal, stage, killAt);
      const where = `killed at ${killAt} of ${points.length}, ${passed.at(-1)}`;
      await lives(folder, portal, stage);
      try {
        expectLegal(callsNow(), stage);
        expectReached(folder, portal, stage);
      } catch (error) {
        const what = `calls ${callsNow().join(', ')}; states ${portal.states.join(', ')}; ${warnings.join(' ')}`;
        throw new Error(`${where}: ${what}`, { cause: error });
      }
    }
  });
});
