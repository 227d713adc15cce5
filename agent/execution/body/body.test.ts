import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { type PlanMachine, planMachine } from '../../testing/plan-run.ts';

let machine: PlanMachine;
beforeAll(async () => {
  machine = await planMachine();
});
afterAll(() => machine.close());

const failure = (Type: string, more: object = {}) => expect.objectContaining({ Type, ...more });

describe('a Body', () => {
  test.each([
    [{}, null],
    [{ Body: '' }, null],
    [{ Body: 'return', Scripts: {} }, null],
  ])('MU-23 %j gives 0 and its value', async (plan, value) => {
    expect(await machine.run(plan)).toMatchObject({ code: 0, body: value });
  });

  test('returns a value with all of its digits', async () => {
    const { text } = await machine.body('return [12345678901234567890, 1.0, args.x, args["y"]]', {
      Parameters: { x: 1.5, y: 'é' },
    });
    expect(text).toBe('[12345678901234567890, 1.0, 1.5, "\\u00e9"]');
  });

  test('MU-39 keeps tabs, multi-line texts and line numbers', async () => {
    const kept = await machine.body('if True:\n\tt = """a\n  b\n\tc"""\nreturn t');
    expect(kept.body).toBe('a\n  b\n\tc');
    const failed = await machine.body('x = 1\n\n\ndef f():\n  return 1/0\nf()');
    expect(failed).toMatchObject({
      code: 1,
      body: {
        Type: 'ZeroDivisionError',
        Stack: ['<plan>:6 in Body: f()', '<plan>:5 in f: return 1/0'],
      },
    });
    const indented = await machine.body('  x = 1\n  return x');
    expect(indented).toMatchObject({ code: 0, body: 1 });
  });

  test.each([
    ['x = = 1', 'SyntaxError'],
    ['if True:\nx = 1', 'IndentationError'],
    ['if True:\n\tx = 1\n        y = 2', 'TabError'],
    [`return ${'('.repeat(10_000)}`, 'SyntaxError'],
    ['from json import *', 'SyntaxError'],
    ['import json\nimport nothing_of_this_name', 'ModuleNotFoundError'],
    ['import json\nimport yaml', 'ModuleNotFoundError'],
  ])('MU-6 MU-40 %j is code 4', async (body, type) => {
    const { code, body: said } = await machine.body(body.slice(0, 20_000));
    expect([code, said]).toEqual([4, failure(type)]);
  });

  test('MU-40 an import that is caught is the affair of the Body', async () => {
    const body = 'import json\ntry:\n  import yaml\nexcept ImportError:\n  return json.dumps({"a": 1})';
    expect(await machine.body(body)).toMatchObject({ code: 0, body: '{"a": 1}' });
  });

  test('MU-6 MU-47 a missing parameter is code 6, unless it is caught', async () => {
    const missing = await machine.body('api.setExitCode(7)\nreturn args.nothing');
    expect(missing).toMatchObject({
      code: 6,
      body: { Type: 'MissingParameter', AdditionalInfo: { parameter: 'nothing' } },
    });
    const index = await machine.body('return args["nothing"]');
    expect(index.code).toBe(6);
    const caught = await machine.body(
      'try:\n  args.x\nexcept MissingParameter:\n  return [getattr(args, "x", 3), args.get("x", 4), "x" in args, len(args)]',
    );
    expect(caught).toMatchObject({ code: 0, body: [3, 4, false, 0] });
  });

  test('MU-74 parameters win over the methods of their names', async () => {
    const Parameters = { items: [1, { a: { b: 2 } }], get: 'g', class: 'c', __proto__x: 1, constructor: 3 };
    const body = 'return [args.items[1].a.b, args.get, args["class"], args.constructor, args]';
    const { body: value } = await machine.body(body, { Parameters });
    expect(value).toEqual([2, 'g', 'c', 3, Parameters]);
  });

  test.each([
    ['api.setExitCode(7)\nraise ValueError("no")', 107, 'ValueError'],
    ['api.setExitCode(7)\nreturn 1', 0, null],
    ['import sys\nsys.exit(3)', 1, 'SystemExit'],
    ['from muranoagent.exceptions import CustomException\nraise CustomException(5, "own")', 105, 'CustomException'],
    ['return {1, 2}', 1, 'TypeError'],
    ['return float("nan")', 1, 'ValueError'],
    ['yield 1', 1, 'TypeError'],
    ['def f(): return f()\nf()', 1, 'RecursionError'],
    ['api.setExitCode(-1)', 1, 'ValueError'],
    ['api.nothing()', 1, 'AttributeError'],
  ])('MU-6 MU-47 %j ends with %d', async (body, code, type) => {
    const ended = await machine.body(body);
    expect(ended.code).toBe(code);
    if (type !== null) expect(ended.body).toMatchObject({ Type: type });
  });

  test('reports the causes of an exception', async () => {
    const body = 'try:\n  {}["a"]\nexcept KeyError as e:\n  raise ValueError("outer") from e';
    expect((await machine.body(body)).body).toEqual({
      Message: 'outer',
      Type: 'ValueError',
      Stack: ['<plan>:4 in Body: raise ValueError("outer") from e'],
      Causes: [{ Message: "'a'", Type: 'KeyError', Stack: ['<plan>:2 in Body: {}["a"]'], Causes: [] }],
    });
  });

  test('what it prints is in the transcript, in order with its calls', async () => {
    const { rows } = await machine.body('import sys\nprint("a")\napi.version()\nprint("b", file=sys.stderr)');
    expect(rows.map((row) => row.slice(1, 4)).filter(([kind]) => kind !== 'end')).toEqual([
      ['begin', { run: 1, why: 'first' }],
      ['out', 0, 'a'],
      ['call', 1, null],
      ['err', 0, 'b'],
      ['done', 0],
    ]);
  });
});

describe('MU-41 a Body that misbehaves', () => {
  test.each([
    ['import os\nos._exit(3)', 'BodyEnded', { exitCode: 3, signal: null }],
    ['import os\nos.kill(os.getpid(), 9)', 'BodyEnded', { exitCode: null, signal: 'SIGKILL' }],
    ['import os\nos.close(3)\nos.close(4)', 'BodyEnded', { exitCode: 1 }],
  ])('%j gives one result', async (body, Type, AdditionalInfo) => {
    const { code, body: said } = await machine.body(body);
    expect([code, said]).toMatchObject([1, { Type, AdditionalInfo }]);
  });

  test.each([
    ['import os\nos.write(4, b"no frame\\n")\nwhile True: pass'],
    ['import os\nos.write(4, b"[1]\\n")\nwhile True: pass'],
    ['import os\nfor i in range(1100): os.write(4, b"x" * 1048576)'],
  ])('%j is a fault of frames', async (body) => {
    const { code, body: said } = await machine.body(body);
    expect([code, said]).toMatchObject([1, { Type: 'frames' }]);
  });

  test('2 GiB of memory are refused', async () => {
    const { code, body } = await machine.body('x = bytearray(2 << 30)\nreturn len(x)');
    expect([code, body]).toMatchObject([
      1,
      { Type: 'MemoryError', Stack: ['<plan>:1 in Body: x = bytearray(2 << 30)'] },
    ]);
  });

  test('100 MiB without a line end are cut into rows, and what is missing is noted', async () => {
    const { code, rows } = await machine.body(
      'import sys\nfor i in range(100): sys.stdout.write("x" * 1048576)\nreturn 1',
    );
    expect(code).toBe(0);
    expect(rows.at(-1)?.[1]).toBe('done');
    expect(rows.some(([, kind, text]) => kind === 'note' && /^Cut: \d+ bytes/.test(String(text)))).toBe(true);
  });

  longTest('an endless loop ends at the time of the execution', async () => {
    const { code, body } = await machine.run({ Body: 'while True: pass' }, { timeoutSeconds: 1 });
    expect([code, body]).toMatchObject([10, { AdditionalInfo: { script: null, seconds: 1 } }]);
  });

  test('children of its group end with it', async () => {
    const body = `import subprocess
return [subprocess.Popen(['sleep', '300']).pid for i in range(20)]`;
    const { body: pids } = await machine.body(body);
    for (const pid of pids as number[]) await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

/** Whether a process is running. Zombies do not count. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}
