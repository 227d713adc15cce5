import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crashPoint, visitCrashPoints } from './folder/crash-point.ts';
import { isWhole, liveUntilKilled, memoryAgent, writeIdentity } from './testing/crash-life.ts';
import { deskCalls } from './testing/desk-calls.ts';
import { zipOf } from './testing/fake-handler.ts';
import { MemoryPortal } from './testing/memory-portal.ts';
import { UnitDesk } from './testing/unit-desk.ts';
import type { Agent } from './work/agent.ts';

/*
 * Stops the agent at points between two persistent effects of a unit's life, as crash-points.test.ts does for handlers,
 * and starts it again. `npm run test:crashes` stops it at every point, `npm run test:all` at some of them.
 */
const fewest = 6;
const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'annex-unit-crash-'));
const log = join(base, 'hooks.log');
const unit = 'web/0';

/** Sets the unit's own settings over AMP. Python starts faster than the commands for hooks. */
const setter = `import os, socket
def box(**values):
    parts = [len(x).to_bytes(2, 'big') + x for k, v in values.items() for x in (k.encode(), v.encode())]
    return b''.join(parts) + b'\\0\\0'
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ['ENSEMBLE_SOCKET'])
run = os.environ['ENSEMBLE_CLIENT_ID']
s.sendall(box(_command='set', _ask='1', client_id=run, unit_name='${unit}', json_blob='{"run":"%s"}' % run))
s.recv(1)
`;
const hook = `#!/bin/sh
echo "$ENSEMBLE_HOOK" >> ${log}
case $ENSEMBLE_HOOK in *-changed) [ -z "$ENSEMBLE_RELATION" ] || python3 set.py;; esac
`;

/** A portal in this process with one unit. */
class UnitPortal extends MemoryPortal {
  readonly desk = new UnitDesk('vm');
  readonly units = deskCalls(this.desk);
  private readonly zips: Map<string, Buffer>;

  constructor(zips: Map<string, Buffer>) {
    super(1, [], []);
    this.zips = zips;
  }

  override async downloadPackage(url: string, file: string) {
    crashPoint('download');
    writeFileSync(file, this.zips.get(url) ?? '');
    crashPoint('downloaded');
  }
}

const hooks = ['install', 'config-changed', 'start', 'stop', 'upgrade-formula', 'db-relation-changed'];
const zips = new Map<string, Buffer>();
const formulas = new Map<string, ReturnType<typeof UnitDesk.formula>>();

interface Stage {
  name: string;
  /** Changes the portal of the stage before. */
  want(desk: UnitDesk): void;
  /** Expected hooks of a run without interruption. */
  hooks: string[];
  /** Expected folders in that of the units. */
  units: string[];
}

const first = (desk: UnitDesk) => {
  desk.set(3, 'mysql/0');
  desk.want({ unit, formula: formulas.get('1.0'), relations: [[3, 'db']] });
};
const upgraded = (desk: UnitDesk) => desk.want({ unit, formula: formulas.get('1.1') });

/** Each stage starts where the previous stage ended. */
const stages: Stage[] = [
  {
    name: 'EN-24 a new unit with a relation',
    want: first,
    hooks: ['install', 'config-changed', 'start', 'db-relation-changed'],
    units: ['formula-1.0'],
  },
  { name: 'EN-55 an upgrade', want: upgraded, hooks: ['upgrade-formula', 'config-changed'], units: ['formula-1.1'] },
  { name: 'EN-51 a removal', want: (desk) => desk.want({ unit, goal: 'leaving' }), hooks: ['stop'], units: [] },
];

let warnings: string[] = [];

/** Runs the agent until nothing is left to do, or until crash point number `killAt`. Returns the points it reached. */
function live(folder: string, portal: UnitPortal, killAt = Number.POSITIVE_INFINITY): Promise<string[]> {
  const work = async (agent: Agent) => {
    await agent.start();
    await agent.lane.whenIdle();
  };
  const options = { portal, environment: { PATH: process.env.PATH } };
  return liveUntilKilled(() => memoryAgent(folder, warnings, options), work, { killAt });
}

const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);

function portalOf(index: number): UnitPortal {
  const portal = new UnitPortal(zips);
  for (const stage of stages.slice(0, index + 1)) stage.want(portal.desk);
  if (index > 0) portal.desk.set(3, unit);
  return portal;
}

function expectReached(folder: string, portal: UnitPortal, { hooks: expected, units }: Stage, index: number): void {
  const ended = portal.desk.runs.filter(({ outcome }) => outcome === 'succeeded').map(({ begin }) => begin.hook);
  expect(ended).toEqual(expected);
  // The hook sets another value in each run, so its node has version 2 only if one run was stored, and once (EN-59).
  const node = portal.desk.relation(3).nodes.get(unit);
  expect(node?.version).toBe(index === 0 ? 2 : 1);
  const [stored] = portal.desk.runs.filter((run) => run.end?.changes?.length === 1 && run.outcome === 'succeeded');
  if (index === 0) expect(node?.settings).toEqual({ run: JSON.stringify(stored?.run) });
  const names = existsSync(join(folder, 'units', 'web-0')) ? readdirSync(join(folder, 'units', 'web-0')) : [];
  expect(names.filter((name) => name.startsWith('formula-'))).toEqual(units);
  for (const name of ['hooks', 'flushes']) {
    const left = join(folder, 'state', name);
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
  }
}

beforeAll(async () => {
  for (const version of ['1.0', '1.1']) {
    const files = Object.fromEntries(hooks.map((name) => [`hooks/${name}`, hook]));
    const zip = await zipOf({ 'metadata.yaml': 'name: wordpress\n', VERSION: version, 'set.py': setter, ...files });
    const formula = UnitDesk.formula(version, zip, hooks);
    formulas.set(version, formula);
    zips.set(formula.package.url, zip);
  }
  writeIdentity(join(base, 'before-0'));
});
afterAll(() => {
  visitCrashPoints(null);
  rmSync(base, { recursive: true, force: true });
});

describe.each(stages.map((stage, index) => ({ stage, index, title: stage.name })))('$title', ({ stage, index }) => {
  test('EN-27 an agent that was stopped at any point loses no hook and stores none twice', {
    timeout: 120_000,
  }, async () => {
    const before = join(base, `before-${index}`);
    const after = join(base, `before-${index + 1}`);
    cpSync(before, after, { recursive: true });
    rmSync(log, { force: true });
    const whole = portalOf(index);
    const points = await live(after, whole);
    expect(calls()).toEqual(stage.hooks);
    expectReached(after, whole, stage, index);
    expect(points.length).toBeGreaterThan(20);

    const step = isWhole ? 1 : Math.ceil(points.length / fewest);
    for (let killAt = isWhole ? 1 : Math.ceil(step / 2); killAt <= points.length; killAt += step) {
      const folder = join(base, 'run');
      rmSync(folder, { recursive: true, force: true });
      cpSync(before, folder, { recursive: true });
      rmSync(log, { force: true });
      warnings = [];
      const portal = portalOf(index);
      const passed = await live(folder, portal, killAt);
      await live(folder, portal);
      try {
        expectReached(folder, portal, stage, index);
        // Only a hook whose outcome was not stored runs again.
        const interrupted = portal.desk.runs.filter(({ outcome }) => outcome === 'interrupted');
        expect(interrupted.length).toBeLessThanOrEqual(1);
        expect(calls().length).toBeLessThanOrEqual(stage.hooks.length + interrupted.length);
      } catch (error) {
        const where = `killed at ${killAt} of ${points.length}, ${passed.at(-1)}`;
        throw new Error(`${where}: ${calls().join(', ')}; ${warnings.join(' ')}`, { cause: error });
      }
    }
  });
});
