import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { readLane } from './commands/lane-state.ts';
import { status, statusText } from './commands/status.ts';
import { layoutOf } from './folder/layout.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
let log: string;
beforeEach(async () => {
  machine = await testMachine();
  log = join(machine.dir, 'order.log');
});
afterEach(() => machine.close());

const echo = { name: 'echo', handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const on = { executionPlans: 'on' } as const;
const logged = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);

/** Returns the envelope of an execution whose script logs its start and its end. */
const envelopeOf = (turn: number, more: object = {}) => ({
  protocol: 1,
  id: `execution-${turn}`,
  stamp: turn,
  turn,
  timeoutSeconds: 60,
  plan: {
    FormatVersion: '2.0.0',
    ID: `plan-${turn}`,
    Body: 's()',
    Scripts: { s: { Type: 'Application', EntryPoint: 'f' } },
    Files: {
      f: { Name: 's', BodyType: 'Text', Body: `echo begin ${turn} >> ${log}; sleep 0.1; echo end ${turn} >> ${log}` },
    },
    ...more,
  },
  files: {},
});
const resultsOf = (count: number) =>
  machine.portal.until(`${count} results`, () => machine.portal.executions.results.length === count);
const codes = () =>
  machine.portal.executions.results.map(({ id, text }) => [id, (JSON.parse(text) as { ErrorCode: number }).ErrorCode]);
const handlerScript = () => `echo begin $1 >> ${log}; sleep 0.1; echo end $1 >> ${log}`;

describe('the order of goal states and executions', () => {
  test('MU-28 MU-29 an execution begins when the goal state before it has come to rest', async () => {
    await machine.addHandler({ ...echo, script: handlerScript() });
    machine.portal.setGoal([echo], 1);
    machine.portal.queue(envelopeOf(2));
    await machine.start(on);
    await resultsOf(1);
    expect(logged()).toEqual(['begin install', 'end install', 'begin enable', 'end enable', 'begin 2', 'end 2']);
  });

  test('MU-28 it begins before the steps of a goal state that came after it', async () => {
    await machine.addHandler({ ...echo, script: handlerScript() });
    machine.portal.setGoal([], 1);
    const agent = await machine.start(on);
    await agent.lane.whenIdle();
    machine.portal.executions.waiting.push(envelopeOf(2));
    machine.portal.setGoal([echo], 3);
    await resultsOf(1);
    await machine.until('the enable', () => logged().includes('end enable'));
    expect(logged()).toEqual(['begin 2', 'end 2', 'begin install', 'end install', 'begin enable', 'end enable']);
  });

  test('MU-28 an extension that fails delays it by nothing', async () => {
    await machine.addHandler({ ...echo, script: `echo begin $1 >> ${log}; exit 1` });
    machine.portal.setGoal([echo, { ...echo, name: 'gone', handler: 'Acme.Test.Gone' }], 1);
    machine.portal.queue(envelopeOf(2));
    await machine.start(on);
    await resultsOf(1);
    expect(logged()).toEqual(['begin install', 'begin 2', 'end 2']);
  });

  test('MU-71 a goal state that cannot be read holds no execution up', async () => {
    machine.portal.setGoalText('{"protocol":1');
    machine.portal.queue(envelopeOf(2));
    await machine.start(on);
    await resultsOf(1);
    expect(codes()).toEqual([['execution-2', 0]]);
  });

  longTest('MU-29 goal states and executions in any order never run at the same time', async () => {
    await machine.addHandler({ ...echo, script: handlerScript() });
    await machine.start(on);
    for (let round = 0; round < 4; round += 1) {
      const turn = 3 * round + 1;
      machine.portal.setGoal([{ ...echo, sequenceNumber: round + 1 }], turn);
      machine.portal.queue(envelopeOf(turn + 1));
      machine.portal.queue(envelopeOf(turn + 2));
      await resultsOf(2 * round + 1);
    }
    await resultsOf(8);
    const lines = logged();
    for (let index = 0; index < lines.length - (lines.length % 2); index += 2) {
      expect(lines[index + 1], lines.join(', ')).toBe(lines[index]?.replace('begin', 'end'));
    }
    const ends = lines.filter((line) => /^end \d+$/.test(line)).map((line) => Number(line.slice(4)));
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  });
});

test('status says what holds the lane', async () => {
  const script = `touch ${log}.begun; until [ -e ${log}.go ]; do sleep 0.02; done`;
  const Files = { f: { Name: 's', BodyType: 'Text', Body: script } };
  machine.portal.queue(envelopeOf(1, { Name: 'Clean up', Version: '1.2.0', Files }));
  const agent = await machine.start(on);
  await machine.until('the script', () => existsSync(`${log}.begun`));
  expect(status({ dir: machine.dir }).lane).toEqual([
    { kind: 'execution', what: 'Clean up 1.2.0', state: 'running', since: expect.any(String) },
  ]);
  expect(statusText({ dir: machine.dir })).toMatch(/^Lane {10}plan Clean up 1\.2\.0: running since \d{4}-/m);
  writeFileSync(`${log}.go`, '');
  await resultsOf(1);
  await agent.lane.whenIdle();
  expect(readLane(layoutOf(machine.dir))).toEqual([]);
  await machine.addHandler({ ...echo, script: `touch ${log}.on; until [ -e ${log}.off ]; do sleep 0.02; done` });
  machine.portal.setGoal([echo], 2);
  await machine.until('the command', () => existsSync(`${log}.on`));
  expect(statusText({ dir: machine.dir })).toMatch(
    /^Lane {10}install of Acme\.Test\.Echo 1\.0\.0\.0 for echo: running$/m,
  );
  writeFileSync(`${log}.off`, '');
  await agent.lane.whenIdle();
  expect(statusText({ dir: machine.dir })).toContain('Lane          nothing is running');
});

describe('what arrives', () => {
  test('MU-12 an envelope that is garbage is put aside, and the next poll works', async () => {
    machine.portal.queue('{"protocol":1,');
    const agent = await machine.start(on);
    await machine.until('the warning', () => machine.lines.some((line) => line.includes('cannot read')));
    await machine.addHandler(echo);
    machine.portal.setGoal([echo], 1);
    await machine.until('the enable', () => machine.calls().includes('Echo-1.0.0.0 enable'));
    expect(agent).toBeDefined();
  });

  test('MU-3 MU-12 a plan that cannot run is answered with its code, and the next one works', async () => {
    machine.portal.queue(envelopeOf(1, { Action: 'Delete' }));
    machine.portal.queue(envelopeOf(2, { FormatVersion: '3.0.0' }));
    machine.portal.queue(envelopeOf(3, { Files: {} }));
    machine.portal.queue(envelopeOf(4));
    await machine.start(on);
    await resultsOf(4);
    expect(codes()).toEqual([
      ['execution-1', 2],
      ['execution-2', 9],
      ['execution-3', 7],
      ['execution-4', 0],
    ]);
    expect(machine.portal.executions.progress).toContain('execution-1 received 1');
    const [first] = machine.portal.executions.results;
    expect(JSON.parse(first?.text ?? '')).toMatchObject({
      SourceID: 'plan-1',
      Body: { AdditionalInfo: { faults: [{ path: '/Action' }] } },
    });
  });

  test('MU-10 MU-26 a plan that was answered is answered again with the same bytes, even after a restart', async () => {
    machine.portal.queue(envelopeOf(1));
    await machine.start(on);
    await resultsOf(1);
    await machine.stop();
    await machine.start(on);
    machine.portal.queue({ ...envelopeOf(1), id: 'again', stamp: 9, turn: 9 });
    await resultsOf(2);
    const [first, second] = machine.portal.executions.results;
    expect(second).toEqual({ id: 'again', text: first?.text });
    expect(logged()).toEqual(['begin 1', 'end 1']);
  });

  test('a transcript arrives whole after an outage, and the result after it', async () => {
    machine.portal.queue(
      envelopeOf(1, { Body: `open(${JSON.stringify(`${log}.begun`)}, 'w')\nfor i in range(2000): print(i)\ns()` }),
    );
    await machine.start(on);
    await machine.until('the begin', () => existsSync(`${log}.begun`));
    machine.portal.away = true;
    await machine.until('the end', () => logged().includes('end 1'));
    machine.portal.away = false;
    await resultsOf(1);
    const rows = String(machine.portal.executions.transcripts.get('execution-1')).trimEnd().split('\n');
    expect(rows.filter((row) => row.includes('"out",0'))).toHaveLength(2000);
    expect(rows.at(-1)).toMatch(/^\[\d+,"done",0\]$/);
  });

  test('AZ-C3 secret parameters reach the Body, and nothing that leaves the machine shows them', async () => {
    const { sealedFor } = await import('./testing/seal.ts');
    const sealed = sealedFor(machine.dir, { password: 'swordfish-in-the-sea' });
    const Body = 'print(args.password)\napi.logInfo(args.password)\nreturn [args.password, len(args.password)]';
    machine.portal.queue({
      ...envelopeOf(1, { Body, Parameters: { who: 'w' } }),
      protectedParameters: sealed.protectedSettings,
      protectedParametersCertThumbprint: sealed.protectedSettingsCertThumbprint,
    });
    await machine.start(on);
    await resultsOf(1);
    expect(JSON.parse(machine.portal.executions.results[0]?.text ?? '')).toMatchObject({
      ErrorCode: 0,
      Body: ['[masked]', 20],
    });
    const sent = [machine.portal.executions.transcripts.get('execution-1'), ...machine.lines].join('\n');
    expect(sent).toContain('[masked]');
    expect(sent).not.toContain('swordfish');
  });
});
