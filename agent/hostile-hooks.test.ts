import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { layoutOf } from './folder/layout.ts';
import { lifeHooks, relationHooks, type UnitMachine, unitMachine } from './testing/unit-machine.ts';

/** All tests use one machine and one agent, with a unit for each test. */
let machine: UnitMachine;
beforeAll(async () => {
  machine = await unitMachine();
  await machine.start();
});
afterAll(async () => {
  await machine.close();
});

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

test('hostile 10: a child that continues after its hook ended with 0 gets UnknownClient, and changes nothing', async () => {
  const { desk } = machine;
  const unit = 'child/0';
  const [gate, told] = [join(machine.dir, 'gate-10'), join(machine.dir, 'told-10')];
  desk.set(10, 'mysql/0', {});
  machine.script(
    unit,
    'db-relation-joined',
    `relation-set before=1
setsid sh -c 'while [ ! -e ${gate} ]; do sleep 0.02; done; relation-set after=2; echo "exit $?"' > ${told} 2>&1 &`,
  );
  const formula = await machine.formula('1.0.0.0', ['db-relation-joined']);
  desk.want({ unit, formula, relations: [[10, 'db']] });
  await machine.ran(unit, 'db-relation-joined succeeded');
  writeFileSync(gate, '');
  await machine.until('the answer to the child', () => textOf(told).includes('exit'));
  expect(textOf(told)).toMatch(/^UnknownClient.*\nexit 1\n$/s);
  expect(desk.relation(10).nodes.get(unit)).toMatchObject({ version: 2, settings: { before: '"1"' } });
});

longTest(
  'hostile 11: a hook that ignores SIGTERM, forks and floods its output is ended with its processes',
  async () => {
    const { desk } = machine;
    const [unit, other] = ['flood/0', 'calm/0'];
    const pids = join(machine.dir, 'pids-11');
    machine.script(
      unit,
      'install',
      `trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ >> ${pids}; exec sleep 600' &
sh -c 'trap "" TERM; echo $$ >> ${pids}; while :; do sleep 60; done' &
head -c 100000 /dev/urandom
head -c 5000000 /dev/zero | tr '\\0' x
exec >&- 2>&-
sleep 600`,
    );
    machine.script(other, 'install', 'exit 0');
    const formula = await machine.formula('1.0.0.1', ['install']);
    desk.want({ unit, formula, timeouts: { default: 30, install: 1.5 } });
    desk.want({ unit: other, formula });
    await machine.ran(unit, 'install failed');
    await machine.ran(other, 'install succeeded');
    const run = desk.runs.find((one) => one.unit === unit);
    expect(run?.end).toMatchObject({ timedOut: true, exitCode: null });
    const started = textOf(pids).trim().split('\n');
    expect(started).toHaveLength(2);
    for (const pid of started) await machine.until(`${pid} has ended`, () => !existsSync(`/proc/${pid}`));
    expect(Buffer.byteLength(run?.end?.output ?? '')).toBeLessThanOrEqual(64 * 1024);
    desk.want({ unit, goal: 'leaving' });
    await machine.portal.until('removed', () => desk.removed.includes(unit));
  },
);

test('hostile 12: a hook that deletes its formula, its socket and the agent’s state keeps no other from running', async () => {
  const { desk } = machine;
  const unit = 'vandal/0';
  const { root, unitRecords } = layoutOf(machine.dir);
  machine.script(unit, 'install', `rm -rf "$PWD" "$ENSEMBLE_SOCKET" ${join(root, 'state')}`);
  machine.script(unit, 'config-changed', 'cat VERSION; config-get title');
  desk.serviceSettings.set(unit, { version: 1, settings: { title: '"My blog"' } });
  desk.want({ unit, formula: await machine.formula('1.0.0.2', [...lifeHooks, ...relationHooks('db')]) });
  await machine.ran(unit, 'start succeeded');
  expect(machine.hooks(unit)).toEqual(['install', 'config-changed', 'start']);
  const changed = desk.runs.find((one) => one.unit === unit && one.begin.hook === 'config-changed');
  expect(changed?.end?.output).toMatch(/INFO 1\.0\.0\.2.*My blog\n/s);
  expect(existsSync(join(unitRecords, 'vandal-0.json'))).toBe(true);

  // The agent continues with what it has confirmed.
  await machine.stop();
  await machine.start();
  desk.want({ unit, goal: 'leaving' });
  await machine.portal.until('removed', () => desk.removed.includes(unit));
  expect(machine.hooks(unit)).toEqual(['install', 'config-changed', 'start', 'stop']);
});

test('hostile 35: a hook whose run a restored portal does not know runs again, and its change is stored once', async () => {
  const { desk } = machine;
  const unit = 'restored/0';
  const gate = join(machine.dir, 'gate-35');
  desk.set(35, 'mysql/0', { host: '"10.0.0.4"' });
  machine.script(unit, 'db-relation-joined', `while [ ! -e ${gate} ]; do sleep 0.02; done; relation-set user=wp`);
  const formula = await machine.formula('1.0.0.3', [...lifeHooks, ...relationHooks('db')]);
  desk.want({ unit, formula, relations: [[35, 'db']] });
  await machine.ran(unit, 'db-relation-joined running');
  // Yesterday's database has another epoch, and neither the run nor the clock.
  const before = desk.runs.findIndex((one) => one.unit === unit && one.outcome === 'running');
  desk.runs.splice(before, 1);
  Object.assign(desk, { epoch: 'e2' });
  desk.want({ unit });
  writeFileSync(gate, '');
  await machine.until('the answer', () => machine.lines.some((line) => line.includes('dropped the outcome')));
  // A restarted agent does not wait for the next attempt.
  await machine.stop();
  await machine.start();
  await machine.ran(unit, 'db-relation-changed succeeded');
  expect(machine.hooks(unit)).toEqual([
    ...['install', 'config-changed', 'start', 'db-relation-joined mysql/0', 'db-relation-joined mysql/0'],
    'db-relation-changed mysql/0',
  ]);
  expect(desk.relation(35).nodes.get(unit)).toMatchObject({ version: 2, settings: { user: '"wp"' } });
});
