import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { executionEnvelope, executionLimits } from '#protocol/executions/index.ts';
import { corpusPlatforms, planCorpus } from '#protocol/executions/testing/plan-corpus.ts';
import { validatePlan } from '#server/domain/executions/index.ts';
import { givenMachine } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longDescribe, longTest } from '#server/testing/long.ts';
import { findPlatforms } from './execution/platforms.ts';
import { resultOf } from './execution/run-execution.ts';
import { layoutOf } from './folder/layout.ts';
import { planEnvelope } from './testing/plan-envelope.ts';
import { type PlanMachine, planMachine } from './testing/plan-run.ts';

/*
 * Plans that try to harm the agent, and machines in a bad state. Each row names its case, the plan and the expected
 * end. Hostile requests to the portal are tested in server/agent-api/hostile-executions.test.ts.
 */
let machine: PlanMachine;
beforeAll(async () => {
  machine = await planMachine();
});
afterAll(() => machine.close());

const script = (text: string, Options: object = {}, Type = 'Application') => ({
  Scripts: { s: { Type, EntryPoint: 'f', Options } },
  Files: { f: { Name: 's', BodyType: 'Text', Body: text } },
});
const failure = (Type: string, more: object = {}) => expect.objectContaining({ Type, ...more });

/** Whether a process is running. A zombie has ended and does not count. */
function isRunning(pid: unknown): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

interface Hostile {
  /** Case number, shown in the test title. */
  number: number;
  what: string;
  plan: object | string;
  code: number;
  /** Expected Body of the result. */
  body: unknown;
}

const rows: Hostile[] = [
  {
    number: 2,
    what: 'a plan nested 10,000 levels deep',
    plan: `{"FormatVersion":"2.0.0","Parameters":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
    code: 2,
    body: failure('PlanInvalid'),
  },
  {
    number: 3,
    what: '__proto__ and constructor as names',
    plan: `{"FormatVersion":"2.0.0","Parameters":{"__proto__":1,"constructor":2},
      "Body":"return [scripts['constructor']().stdout, args['__proto__'], args.constructor]",
      "Scripts":{"constructor":{"Type":"Application","EntryPoint":"__proto__"}},
      "Files":{"__proto__":{"Name":"constructor","BodyType":"Text","Body":"echo x"}}}`,
    code: 0,
    body: ['x', 1, 2],
  },
  {
    number: 4,
    what: 'scripts named scripts, class and __body__',
    plan: {
      Body: 'return [scripts().stdout, __body__().stdout]',
      Scripts: Object.fromEntries(
        ['scripts', 'class', '__body__'].map((name) => [name, { Type: 'Application', EntryPoint: 'f' }]),
      ),
      Files: { f: { Name: 'f', BodyType: 'Text', Body: 'echo x' } },
    },
    code: 0,
    body: ['x', 'x'],
  },
  {
    number: 4,
    what: 'a script named args',
    plan: { Scripts: { args: { Type: 'Bash', EntryPoint: 'f' } } },
    code: 2,
    body: failure('PlanInvalid'),
  },
  { number: 6, what: 'half of a character pair', plan: { Name: '\ud800' }, code: 2, body: failure('PlanInvalid') },
  { number: 6, what: 'a NUL character', plan: { Service: 'a\0b' }, code: 2, body: failure('PlanInvalid') },
  {
    number: 7,
    what: 'a file that would be outside of its folder',
    plan: { ...script('x'), Files: { f: { Name: '../../../evil', BodyType: 'Text', Body: 'x' } } },
    code: 2,
    body: failure('PlanInvalid'),
  },
  {
    number: 11,
    what: 'the EntryPoint __proto__',
    plan: { Scripts: { s: { Type: 'Bash', EntryPoint: '__proto__' } } },
    code: 7,
    body: failure('PlanInvalid'),
  },
  {
    number: 11,
    what: 'a number as EntryPoint',
    plan: { Scripts: { s: { Type: 'Bash', EntryPoint: 7 } } },
    code: 2,
    body: failure('PlanInvalid'),
  },
  {
    number: 12,
    what: 'unknown options and a timeout of 1e9',
    plan: script('', { timeout: 1e9, retry: 1 }),
    code: 5,
    body: failure('PlanInvalid'),
  },
  {
    number: 13,
    what: 'a command line with an open brace',
    plan: script('', { commandLine: '{0' }),
    code: 5,
    body: failure('PlanInvalid'),
  },
  {
    number: 13,
    what: 'an argument that the call lacks',
    plan: { ...script('', { commandLine: '{9}' }), Body: 's()' },
    code: 1,
    body: failure('ScriptError', { Message: 's needs an argument 10.' }),
  },
  {
    number: 16,
    what: 'a Body of 3 MiB on one line',
    plan: { Body: `return len("${'x'.repeat(3 << 20)}")` },
    code: 0,
    body: 3 << 20,
  },
  {
    number: 16,
    what: '10,000 nested brackets',
    plan: { Body: `return ${'['.repeat(10_000)}` },
    code: 4,
    body: failure('SyntaxError'),
  },
  {
    number: 17,
    what: 'half a frame, then silence',
    plan: { Body: 'import os\nos.write(4, b"{\\"n\\":")\nos._exit(0)' },
    code: 1,
    body: failure('BodyEnded'),
  },
  {
    number: 17,
    what: 'a second call while one runs',
    plan: {
      Body: 'import os\nfor i in (1, 2): os.write(4, b\'{"n":%d,"call":"script","script":"s","args":[],"kwargs":{}}\\n\' % i)\nimport time\ntime.sleep(60)',
      ...script('sleep 60'),
    },
    code: 1,
    body: failure('frames'),
  },
  {
    number: 18,
    what: 'descriptors 3 and 4 closed',
    plan: { Body: 'import os\nos.close(3)\nos.close(4)\nreturn 1' },
    code: 1,
    body: failure('BodyEnded'),
  },
  {
    number: 19,
    what: 'args, api and scripts replaced',
    plan: { Body: 'args = api = s = {"a": 1}\nreturn [args, api, s]', ...script('') },
    code: 0,
    body: [{ a: 1 }, { a: 1 }, { a: 1 }],
  },
  {
    number: 28,
    what: 'a result of 17 MiB',
    plan: { Body: 'return "x" * (17 << 20)' },
    code: 1,
    body: failure('frames'),
  },
  {
    number: 43,
    what: 'a value of 2 MiB in the state',
    plan: { Service: 'x', Body: 'api.setState("../x", "y" * (2 << 20))' },
    code: 1,
    body: failure('StateTooLarge'),
  },
  {
    number: 43,
    what: 'a key such as ../x',
    plan: { Service: 'x', Body: 'api.setState("../x", 1)\nreturn api.getState("../x")' },
    code: 0,
    body: 1,
  },
  {
    number: 43,
    what: 'a state whose value has 1,000,000 keys',
    plan: { Service: 'x', Body: 'api.setState("k", {str(n): 1 for n in range(1000000)})' },
    code: 1,
    body: failure('StateTooLarge'),
  },
];

describe('a hostile plan', () => {
  test.each(rows)('case $number: $what gives code $code', async ({ plan, code, body }) => {
    const run = await machine.run(plan);
    expect([run.code, run.body]).toEqual([code, body]);
    expect(({} as Record<string, unknown>).polluted, 'prototypes are untouched').toBeUndefined();
  });

  test('case 17: a Body that writes a line of 1 GiB is ended before the agent has read more than a frame', async () => {
    const file = join(machine.dir, 'written');
    const body = `import os
count = os.open(${JSON.stringify(file)}, os.O_CREAT | os.O_WRONLY)
for i in range(1024):
  left = memoryview(b"x" * 1048576)
  while left: left = left[os.write(4, left):]
  os.pwrite(count, b"%4d" % (i + 1), 0)
return 1`;
    expect(await machine.body(body)).toMatchObject({ code: 1, body: failure('frames') });
    // One more MiB may be in the pipe, and one more in the hands of Python.
    expect(Number(readFileSync(file, 'utf8'))).toBeLessThanOrEqual((executionLimits.frameBytes >> 20) + 2);
  });

  longTest('case 43: 1,000,000 keys in the state end at the limit of calls, in one file in its folder', async () => {
    const Body = 'for n in range(1000000): api.setState("../" * 9 + str(n), n)';
    const folder = layoutOf(machine.dir).planStates;
    const before = existsSync(folder) ? readdirSync(folder) : [];
    const ended = await machine.run({ Service: 'many keys', Body }, { maxCalls: 300 });
    expect([ended.code, ended.body]).toEqual([1, failure('TooManyCalls')]);
    const files = readdirSync(folder).filter((name) => !before.includes(name));
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.jsonl$/)]);
    const later = await machine.run({ Service: 'many keys', Body: 'return api.getState("../" * 9 + "299")' });
    expect(later.body).toBe(299);
  });

  longTest(
    'case 18: 1,000 children of a Body end with the plan',
    async () => {
      const body = `import os, time
pids = []
for i in range(1000):
  pid = os.fork()
  if pid == 0:
    time.sleep(300)
    os._exit(0)
  pids.append(pid)
return pids`;
      const { code, body: pids } = await machine.body(body);
      expect(code).toBe(0);
      await expect.poll(() => (pids as number[]).filter(isRunning), { timeout: 15_000 }).toEqual([]);
    },
    60_000,
  );

  test.each([
    ['is 17 MiB long', `"${'x'.repeat(17 << 20)}"`],
    ['is nested 5,000 levels deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ])('case 28: a value that %s is not sent: the result has code 1', (_, body) => {
    const open = { planId: 'p', envelope: executionEnvelope.parse(planEnvelope(1, { body: '' })) };
    const { ErrorCode, Body } = JSON.parse(resultOf(open, { code: 0, body })) as { ErrorCode: number; Body: unknown };
    expect([ErrorCode, Body]).toEqual([1, failure('ResultTooLarge')]);
  });

  longTest('case 20: a daemon that leaves its session is ended with the timeout of its call', async () => {
    const file = join(machine.dir, 'daemon');
    const daemon = `setsid sh -c '(setsid sh -c "echo \\$\\$ > ${file}; exec sleep 300" &)' & wait; sleep 300`;
    const { code } = await machine.run({ ...script(daemon, { timeout: 2 }), Body: 's()' });
    expect(code).toBe(10);
    expect(isRunning(readFileSync(file, 'utf8').trim())).toBe(false);
  });

  longTest(
    'case 21: output beyond the limit is cut to 64 MiB, with a note, and each call has its own rows',
    async () => {
      const long = 'head -c 100000000 /dev/zero | tr "\\0" x';
      const {
        code,
        rows: kept,
        calls,
      } = await machine.run({
        ...script(`[ -n "$1" ] && ${long}; echo end`),
        Body: 's()\ns("long")\ns()\ns()',
      });
      expect(code).toBe(0);
      const last = new Map(calls.map((call) => [call.n, call]));
      const places = [...last.values()].map((call) =>
        [call.row, call.untilRow].map((at) => kept[at ?? -1]?.slice(1, 3)),
      );
      expect(places).toEqual(
        [1, 2, 3, 4].map((n) => [
          ['call', n],
          ['end', n],
        ]),
      );
      const bytes = kept.reduce((sum, row) => sum + JSON.stringify(row).length + 1, 0);
      expect(bytes).toBeLessThan(64 << 20);
      expect(kept.some(([, kind, text]) => kind === 'note' && /^Cut: \d+ bytes/.test(String(text)))).toBe(true);
      expect(kept.at(-1)?.[1]).toBe('done');
    },
    60_000,
  );
});

describe('a hostile message from the broker', () => {
  const text = (rest: string) => Buffer.from(`{"FormatVersion":"2.0.0",${rest}}`);
  const letters = (count: number) =>
    Array.from({ length: count }, (_, index) => `"${String.fromCodePoint(0x10_000 + index)}":{}`).join(',');
  const filled = (bytes: number) =>
    text(`"Body":"return 1","Files":{"f":{"Name":"f","BodyType":"Text","Body":"${'x'.repeat(bytes)}"}}`);

  test.each<[number: number, what: string, content: Buffer, code: number, body: unknown]>([
    [1, 'a plan of 5 MiB', filled(5 << 20), 2, failure('PlanInvalid')],
    [1, 'a plan of 4 MiB', filled(executionLimits.planBytes), 0, 1],
    [2, '10,000 levels', text(`"Name":${'['.repeat(10_000)}${']'.repeat(10_000)}`), 2, failure('PlanInvalid')],
    [3, 'a parameter named __proto__', text('"Body":"return args[\'__proto__\']","Parameters":{"__proto__":1}'), 0, 1],
    [5, 'the same property twice', text('"Body":"return 1","Body":"return 2"'), 0, 2],
    [4, 'a script named api', text('"Scripts":{"api":{"Type":"Bash","EntryPoint":"f"}}'), 2, failure('PlanInvalid')],
    [6, 'half of a character pair', text('"Name":"\\ud800"'), 2, failure('PlanInvalid')],
    [6, 'a NUL character', text('"Name":"a\\u0000"'), 2, failure('PlanInvalid')],
    [6, 'a name of 128 KiB', text(`"Name":"${'x'.repeat(1 << 17)}"`), 2, failure('PlanInvalid')],
    [15, '100,000 scripts', text(`"Scripts":{${letters(100_000)}}`), 2, failure('PlanInvalid')],
    [37, 'not JSON', Buffer.from('not json {'), 2, failure('PlanInvalid')],
    [37, 'a JSON list', Buffer.from('[1]'), 2, failure('PlanInvalid')],
    [37, 'compressed bytes', gzipSync('{"FormatVersion":"2.0.0"}'), 2, failure('PlanInvalid')],
    [37, 'nothing', Buffer.alloc(0), 2, failure('PlanInvalid')],
  ])('case %i: %s', async (_, __, content, code, body) => {
    const run = await machine.runMessage(content);
    expect([run.code, run.body]).toEqual([code, body]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

longDescribe('a machine in a bad state', () => {
  test('case 45: with a clock that is years off and set back, times and timeouts are right', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2036-01-01T00:00:00Z') });
    try {
      const { running: first, end } = machine.begin({ ...script('sleep 1'), Body: 's()' });
      vi.setSystemTime(new Date('2016-01-01T00:00:00Z'));
      const ended = await end;
      expect([first.wantsReboot, ended?.code]).toEqual([false, 0]);
      const times = ended?.rows.map(([at]) => Number(at)) ?? [];
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.at(-1)).toBeGreaterThan(900);
      expect(times.at(-1)).toBeLessThan(60_000);
      const late = await machine.run({ ...script('sleep 300'), Body: 's()' }, { timeoutSeconds: 1 });
      expect(late.code).toBe(10);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['is Python 2', 'echo annex 2.7.18'],
    ['is too old', 'echo annex 3.5.2'],
    ['prints to stdout at its start', 'echo welcome; echo annex 3.11.2'],
    ['fails', 'echo annex 3.11.2; exit 1'],
    ['hangs at its start', 'exec sleep 300'],
  ])('case 47: a python3 that %s is not used', async (_, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'annex-python-'));
    const program = join(folder, 'python3');
    writeFileSync(program, `#!/bin/sh\n${text}\n`);
    chmodSync(program, 0o755);
    try {
      const found = await findPlatforms({ PATH: process.env.PATH }, program);
      expect(found.python).toBeNull();
      const without = await planMachine(found);
      expect(await without.body('return 1')).toMatchObject({ code: 3, body: { Type: 'PlatformMissing' } });
      without.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('portal and agent', () => {
  let door: AgentDoor;
  afterAll(() => door.close());

  test('MU-21 give the same code and the same faults for each plan of the corpus', async () => {
    const opened = await openTestDoor();
    door = opened.door;
    const admin = await testContext({ services: opened.ctx, role: 'admin' });
    const { agent, vmId } = await givenMachine(admin, door);
    const report = { platforms: corpusPlatforms, python: '3.11.2', executionPlans: 'on' };
    await agent.call('/platforms', { method: 'PUT', body: JSON.stringify(report) });
    // Without Python, plans without faults end before their Bodies begin.
    const found = new Map(
      Object.entries(corpusPlatforms).map(([type, platform]) => [type, { ...platform, program: '' }]),
    );
    const judge = await planMachine({ platforms: found, python: null });
    const several = new Set<number>();
    // The limit on the size of a plan is a limit on its text, which the agent does not see.
    const plans = planCorpus.filter(({ text }) => Buffer.byteLength(text) <= executionLimits.planBytes);
    expect(plans.length).toBeGreaterThan(planCorpus.length - 2);
    for (const { name, text } of plans) {
      const atPortal = await validatePlan(admin, { plan: text, vmId }).catch((error: { faults?: object[] }) => ({
        code: 2,
        faults: error.faults ?? [],
      }));
      // Only the portal knows which files it has.
      const known = atPortal.faults.filter((each) => Reflect.get(each, 'code') !== 'runbook_file_unknown');
      const { code, body } = await judge.run(text);
      const { Type, AdditionalInfo } = body as {
        Type: string;
        AdditionalInfo?: { faults: { path: string; code: string }[] };
      };
      const faults = (all: object[]) =>
        all.map((each) => ({ path: Reflect.get(each, 'path') as string, code: Reflect.get(each, 'code') as string }));
      const atAgent = Type === 'PlatformMissing' ? [0, []] : [code, faults(AdditionalInfo?.faults ?? [])];
      expect(atAgent, name).toEqual([known.length === 0 ? 0 : atPortal.code, faults(known)]);
      if (known.length > 1) several.add(atPortal.code);
    }
    expect(several.size).toBeGreaterThan(2);
    expect(readdirSync(join(judge.dir, 'executions'))).toEqual([]);
    judge.close();
  });
});
