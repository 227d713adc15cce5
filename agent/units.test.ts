import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { units, unitsText } from './commands/units.ts';
import { layoutOf } from './folder/layout.ts';
import { sealedFor } from './testing/seal.ts';
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

const containerOf = (name: string) => join(machine.dir, 'units', name);

test('EN-33 EN-29 EN-75 a new unit is installed, configured and started, and then takes part in its relations', async () => {
  const { desk } = machine;
  const unit = 'wordpress/0';
  desk.set(3, 'mysql/0', { host: '"10.0.0.4"' });
  machine.script(unit, 'install', 'pwd; echo trouble >&2; env | sort');
  machine.script(unit, 'db-relation-changed', 'relation-set user=wp "seen=$(relation-get host)"');
  const formula = await machine.formula('1.0.0.0', [...lifeHooks, ...relationHooks('db')]);
  desk.want({ unit, formula, relations: [[3, 'db']] });
  await machine.ran(unit, 'db-relation-changed succeeded');
  expect(machine.hooks(unit)).toEqual([
    'install',
    'config-changed',
    'start',
    'db-relation-joined mysql/0',
    'db-relation-changed mysql/0',
  ]);
  // EN-10: what the last hook set arrived with its end.
  expect(desk.relation(3).nodes.get(unit)?.settings).toEqual({ user: '"wp"', seen: '"10.0.0.4"' });
  expect(desk.runs.at(-1)?.end?.views).toEqual([
    { relation: 3, unit: 'mysql/0', version: 1 },
    { relation: 3, unit, version: 1 },
  ]);

  // EN-18, EN-75: the hook has the documented environment, and its own folder.
  const [install] = desk.runs;
  const run = install?.run ?? '';
  await machine.portal.until('the output', () => desk.log(run).includes('TZ=') || desk.log(run).includes('PWD='));
  const output = desk.log(run);
  const root = join(containerOf('wordpress-0'), 'formula-1.0.0.0');
  expect(output).toMatch(new RegExp(`^\\+0\\.\\d{3} INFO ${root}$`, 'm'));
  expect(output).toMatch(/^\+0\.\d{3} ERROR trouble$/m);
  for (const line of [
    `ANNEX_COMMAND=${run}`,
    `ENSEMBLE_CLIENT_ID=${run}`,
    `ENSEMBLE_CONTAINER_PATH=${containerOf('wordpress-0')}`,
    'ENSEMBLE_FORMULA=wordpress',
    `ENSEMBLE_FORMULA_PATH=${root}`,
    'ENSEMBLE_HOOK=install',
    'ENSEMBLE_LOCAL_UNIT=wordpress/0',
    'ENSEMBLE_MODEL=prod',
    'ENSEMBLE_SERVICE=wordpress',
    `ENSEMBLE_SOCKET=${join(containerOf('wordpress-0'), 'ensemble.sock')}`,
  ]) {
    expect(output).toContain(` INFO ${line}\n`);
  }
  expect(output).not.toContain('ENSEMBLE_RELATION');
  expect(install?.begin).toMatchObject({ hook: 'install', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 30 });
  expect(statSync(join(containerOf('wordpress-0'), 'ensemble.sock')).mode & 0o777).toBe(0o600);
});

test('EN-44 hooks without a file count as done, and are reported without a run', async () => {
  const { desk } = machine;
  const unit = 'quiet/0';
  desk.set(4, 'mysql/0', {});
  desk.set(4, 'mysql/1', {});
  desk.want({ unit, formula: await machine.formula('1.0.0.1', ['start']), relations: [[4, 'db']] });
  await machine.portal.until('skipped hooks', () => desk.skipped.filter((one) => one.unit === unit).length === 6);
  expect(machine.hooks(unit)).toEqual(['start']);
  expect(desk.skipped.filter((one) => one.unit === unit)).toEqual([
    { unit, hook: 'install', formula: '1.0.0.1' },
    { unit, hook: 'config-changed', version: 1, address: null, formula: '1.0.0.1' },
    ...['mysql/0', 'mysql/1'].flatMap((remoteUnit) =>
      ['joined', 'changed'].map((event) =>
        expect.objectContaining({ hook: `db-relation-${event}`, relation: 4, remoteUnit, version: 1 }),
      ),
    ),
  ]);
});

test('EN-66 EN-63 EN-23 lines arrive while the hook runs, without the secrets that came into it meanwhile', async () => {
  const { desk } = machine;
  const unit = 'secret/0';
  const gate = join(machine.dir, 'gate');
  const sealed = sealedFor(machine.dir, { licence: 'L-12345678', big: 12345678901234 });
  desk.serviceSettings.set(unit, { version: 1, settings: { title: '"My blog"' }, ...sealed });
  desk.set(5, 'mysql/0', { password: '"correct horse"', salt: '"pepper-and"', host: '"10.0.0.4"' });
  machine.script(
    unit,
    'db-relation-joined',
    `echo first
all=$(relation-get); echo "$all"
printf 'correct horse' | base64
licence=$(config-get licence); echo "$licence" >&2
ensemble-log -l ERROR --id no_database --param 'correct horse' "found $licence"
while [ ! -e ${gate} ]; do sleep 0.05; done
echo last`,
  );
  const formula = await machine.formula('1.0.0.2', ['db-relation-joined']);
  desk.want({ unit, formula, masked: ['salt'], relations: [[5, 'db']] });
  const running = await machine.portal.until('the run', () => desk.runs.find((one) => one.unit === unit));
  await machine.portal.until('a line while it runs', () => desk.log(running.run).includes('no_database'));
  expect(running.outcome).toBe('running');
  writeFileSync(gate, '');
  await machine.ran(unit, 'db-relation-joined succeeded');
  await machine.portal.until('the last line', () => desk.log(running.run).includes('last\n'));
  const output = desk.log(running.run);
  expect(output).toMatch(/INFO first\n.* INFO \{"password":"\[masked\]","salt":"\[masked\]","host":"10\.0\.0\.4"\}\n/);
  expect(output).toContain('ERROR [masked]\n');
  expect(output).toContain('ERROR {"id":"no_database","params":["[masked]"]} found [masked]\n');
  for (const secret of [
    'correct',
    'pepper',
    'L-12345678',
    Buffer.from('correct horse').toString('base64').slice(0, 12),
  ]) {
    expect(output + running.end?.output).not.toContain(secret);
  }
  expect(running.end?.reason).toEqual({ id: 'no_database', params: ['[masked]'] });
});

describe('a hook that fails', () => {
  test('EN-24 EN-46 EN-47 is run again after a delay, and stops only its relation', async () => {
    const { desk } = machine;
    const unit = 'failing/0';
    desk.set(6, 'mysql/0', {});
    desk.set(7, 'cache/0', {});
    machine.script(unit, 'db-relation-joined', 'relation-set tried=yes\nexit 3');
    machine.script(unit, 'cache-relation-joined', 'relation-set tried=yes');
    const formula = await machine.formula('1.0.0.3', ['db-relation-joined', 'cache-relation-joined']);
    const relations: [number, string][] = [
      [6, 'db'],
      [7, 'cache'],
    ];
    desk.want({ unit, formula, relations });
    await machine.ran(unit, 'cache-relation-joined succeeded');
    await machine.ran(unit, 'db-relation-joined failed');
    expect(desk.relation(6).nodes.get(unit)?.settings).toEqual({});
    expect(desk.relation(7).nodes.get(unit)?.settings).toEqual({ tried: '"yes"' });
    const failed = desk.runs.find((one) => one.unit === unit && one.outcome === 'failed');
    expect(failed?.end).toMatchObject({ exitCode: 3, signal: null, timedOut: false });
    expect(failed?.end?.changes).toBeUndefined();

    // An operator does not wait for the delay (EN-49).
    machine.script(unit, 'db-relation-joined', 'relation-set tried=again');
    desk.want({ unit, resolution: { run: failed?.run ?? '', how: 'retry' } });
    await machine.ran(unit, 'db-relation-joined succeeded');
    expect(desk.runs.filter((one) => one.begin.hook === 'db-relation-joined' && one.unit === unit)).toMatchObject([
      { begin: { attempt: 1 } },
      { begin: { attempt: 2 } },
    ]);
    expect(desk.relation(6).nodes.get(unit)?.settings).toEqual({ tried: '"again"' });
  });

  test('EN-49 EN-45 EN-48 is skipped if an operator requests it, and names a file that cannot be run', async () => {
    const { desk } = machine;
    const unit = 'skip/0';
    machine.script(
      unit,
      'install',
      'rm hooks/config-changed; echo "#!/no/such/shell" > hooks/start; chmod 755 hooks/start',
    );
    desk.want({ unit, formula: await machine.formula('1.0.0.4', lifeHooks) });
    await machine.ran(unit, 'config-changed failed');
    const failed = desk.runs.findLast((one) => one.unit === unit);
    expect(failed?.end?.exitCode).toBe(127);
    expect(failed?.end?.output).toContain('hooks/config-changed: not found');
    desk.want({ unit, resolution: { run: failed?.run ?? '', how: 'skip' } });
    await machine.ran(unit, 'start failed');
    expect(desk.skipped.filter((one) => one.unit === unit)).toMatchObject([
      { hook: 'config-changed', run: failed?.run },
    ]);
    const start = desk.runs.findLast((one) => one.unit === unit);
    expect(start?.end?.exitCode).toBe(127);
    expect(start?.end?.output).toContain('hooks/start: not found');

    // EN-48: another version of the formula ends the delay.
    desk.want({ unit, formula: await machine.formula('1.0.0.5', [...lifeHooks, 'upgrade-formula']) });
    await machine.ran(unit, 'start succeeded');
    expect(machine.hooks(unit)).toEqual(['install', 'upgrade-formula', 'config-changed', 'start']);
  });

  test('EN-10 is ended at its timeout, and its processes with it', async () => {
    const { desk } = machine;
    const unit = 'slow/0';
    machine.script(unit, 'install', 'sleep 600 & echo $!; sleep 600');
    desk.want({
      unit,
      timeouts: { default: 30, install: 0.5 },
      formula: await machine.formula('1.0.0.6', ['install']),
    });
    await machine.ran(unit, 'install failed');
    const run = desk.runs.findLast((one) => one.unit === unit);
    expect(run?.end).toMatchObject({ exitCode: null, timedOut: true });
    const pid = /INFO (\d+)/.exec(run?.end?.output ?? '')?.[1];
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    desk.want({ unit, goal: 'leaving' });
    await machine.portal.until('removed', () => desk.removed.includes(unit));
  });
});

test('EN-55 an upgrade begins with upgrade-formula from the new version, next to the old one', async () => {
  const { desk } = machine;
  const unit = 'upgrade/0';
  desk.want({ unit, formula: await machine.formula('1.0.0.7', lifeHooks) });
  await machine.ran(unit, 'start succeeded');
  machine.script(
    unit,
    'upgrade-formula',
    'cat VERSION "$ENSEMBLE_PREVIOUS_FORMULA_PATH/VERSION"; echo " $ENSEMBLE_PREVIOUS_FORMULA_VERSION"',
  );
  desk.want({ unit, formula: await machine.formula('1.0.0.8', [...lifeHooks, 'upgrade-formula']) });
  await machine.ran(unit, 'upgrade-formula succeeded');
  await machine.portal.until('config-changed', () => machine.hooks(unit).filter((one) => one === 'config-changed')[1]);
  const upgrade = desk.runs.find((one) => one.unit === unit && one.begin.hook === 'upgrade-formula');
  expect(upgrade?.end?.output).toContain('INFO 1.0.0.81.0.0.7 1.0.0.7\n');
  const formulas = () => readdirSync(containerOf('upgrade-0')).filter((name) => name.startsWith('formula-'));
  await machine.until('the old folder is gone', () => formulas().length === 1);
  expect(formulas()).toEqual(['formula-1.0.0.8']);
  expect(machine.hooks(unit)).toEqual(['install', 'config-changed', 'start', 'upgrade-formula', 'config-changed']);
});

test('EN-51 a unit leaves its relations, stops, and is gone, although its hooks fail', async () => {
  const { desk } = machine;
  const unit = 'leaving/0';
  desk.set(8, 'mysql/0', {});
  desk.set(8, 'mysql/1', {});
  machine.script(
    unit,
    'db-relation-broken',
    'echo "[$ENSEMBLE_MEMBERS][$ENSEMBLE_REMOTE_UNIT]"\n[ -e tried ] || { touch tried; relation-set a=b; }\nexit 1',
  );
  const formula = await machine.formula('1.0.0.9', [...lifeHooks, ...relationHooks('db')]);
  desk.want({ unit, formula, relations: [[8, 'db']] });
  await machine.portal.until('both', () => machine.hooks(unit).length === 7);
  await machine.ran(unit, 'db-relation-changed succeeded');
  desk.want({ unit, goal: 'leaving' });
  await machine.ran(unit, 'db-relation-broken failed');
  const broken = () => desk.runs.filter((one) => one.begin.hook === 'db-relation-broken' && one.end !== undefined);
  expect(broken()[0]?.end?.output).toContain('INFO [][]\n');
  expect(broken()[0]?.end?.output).toContain('NotPermitted');
  // The operator does not wait for the delays.
  for (const attempt of [1, 2]) {
    const run = (await machine.portal.until('an attempt', () => broken()[attempt - 1]))?.run;
    desk.want({ unit, resolution: { run, how: 'retry' } });
  }
  await machine.portal.until('removed', () => desk.removed.includes(unit));
  expect(machine.hooks(unit).slice(7)).toEqual([
    'db-relation-departed mysql/0',
    'db-relation-departed mysql/1',
    ...['db-relation-broken', 'db-relation-broken', 'db-relation-broken'],
    'stop',
  ]);
  expect(desk.skipped.filter((one) => one.unit === unit)).toMatchObject([
    { hook: 'db-relation-broken', run: broken()[2]?.run },
  ]);
  expect(existsSync(containerOf('leaving-0'))).toBe(false);
  await machine.until('its file is gone', () => !existsSync(join(layoutOf(machine.dir).unitRecords, 'leaving-0.json')));
});

test('EN-53 a unit that the portal no longer names is left as it is', async () => {
  const { desk } = machine;
  const unit = 'forced/0';
  const formula = await machine.formula('1.0.0.10', lifeHooks);
  desk.want({ unit, formula });
  await machine.ran(unit, 'start succeeded');
  desk.forget(unit);
  await machine.until('its socket is closed', () => !existsSync(join(containerOf('forced-0'), 'ensemble.sock')));
  expect(readdirSync(containerOf('forced-0'))).toEqual(['formula-1.0.0.10']);
  expect(machine.hooks(unit)).toEqual(['install', 'config-changed', 'start']);
});

test('annex-agent units lists the units, what is due and what fails', async () => {
  const { desk } = machine;
  const unit = 'shown/0';
  machine.script(unit, 'config-changed', 'exit 4');
  desk.want({ unit, formula: await machine.formula('1.0.0.11', lifeHooks) });
  await machine.ran(unit, 'config-changed failed');
  const shown = () => units({ dir: machine.dir }).find((one) => one.unit === unit);
  await machine.until('the failure', () => shown()?.failing.length === 1);
  expect(shown()).toMatchObject({
    ...{ model: 'prod', formula: 'Acme.Blog.wordpress', version: '1.0.0.11', state: 'installed', running: null },
    ...{ isSending: false, due: ['config-changed', 'start'], failing: [{ attempts: 1 }], skipped: [], ports: [] },
  });
  const line = unitsText({ dir: machine.dir })
    .split('\n')
    .find((each) => each.startsWith(unit));
  expect(line).toMatch(/^shown\/0 +Acme\.Blog\.wordpress +1\.0\.0\.11 +installed +failed once, next attempt 2/);
  expect(line).toMatch(/ {2}config-changed and 1 more$/);
});
