import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longDescribe, longTest } from '#server/testing/long.ts';
import { type PlanMachine, planMachine } from '../../testing/plan-run.ts';
import { findPlatforms, platformReport } from '../platforms.ts';

let machine: PlanMachine;
beforeAll(async () => {
  machine = await planMachine();
});
afterAll(() => machine.close());

const evil = `'; rm -rf x $(id) "`;

/** Returns a plan with one script, `s`. */
const planOf = (Type: string, text: string, Body: string, more: { Options?: object; Parameters?: object } = {}) => ({
  Body,
  Parameters: more.Parameters ?? {},
  Scripts: { s: { Type, EntryPoint: 'f', Options: more.Options ?? {} } },
  Files: { f: { Name: 'dir/s.txt', BodyType: 'Text', Body: text } },
});

const showArguments = `#!/bin/sh
for each; do printf '<%s>\\n' "$each"; done`;

describe('Application', () => {
  test('MU-4 MU-42 each value is one argument: by position, by name, by command line, environment and stdin', async () => {
    const Parameters = { evil };
    const plain = await machine.run(
      planOf('Application', showArguments, 'return s(args.evil, 1, name=args.evil).stdout', { Parameters }),
    );
    expect(plain.body).toBe(`<${evil}>\n<1>\n<--name=${evil}>`);
    const Options = { commandLine: `-a "{0} b" '{who}' {*} {{x}}` };
    const line = await machine.run(
      planOf('Application', showArguments, 'return s(args.evil, [1], who=True).stdout', { Parameters, Options }),
    );
    expect(line.body).toBe(`<-a>\n<${evil} b>\n<true>\n<${evil}>\n<[1]>\n<{x}>`);
    const given = { environment: { E: 'e {0}' }, stdin: '{0}\n{who}' };
    const text = 'printf "%s|" "$E"; cat';
    const other = await machine.run(
      planOf('Application', text, 'return s(args.evil, who="w").stdout', { Parameters, Options: given }),
    );
    expect(other.body).toBe(`e ${evil}|${evil}\nw`);
  });

  test('MU-43 a value given by environment or stdin is in no command line', async () => {
    const text = '#!/bin/sh\ncat > /dev/null\ncat /proc/[0-9]*/cmdline | tr "\\0" " "';
    const Options = { environment: { PASSWORD: '{0}' }, stdin: '{0}', commandLine: '' };
    const Parameters = { secret: 'correct-horse-battery' };
    const { body } = await machine.run(
      planOf('Application', text, 'return s(args.secret).stdout', { Options, Parameters }),
    );
    expect(body).toContain('/bin/sh');
    expect(body).not.toContain('correct-horse');
  });

  test('MU-46 verifyExitcode decides whether an exit code is a failure', async () => {
    const text = '#!/bin/sh\necho o; echo e >&2; exit 3';
    const body = 'r = s()\nreturn [r, r.exitCode, r["exitCode"], r.stdout, r.stderr, r.truncated, r + 1]';
    const lenient = await machine.run(planOf('Application', text, body, { Options: { verifyExitcode: false } }));
    expect(lenient).toMatchObject({ code: 0, body: [3, 3, 3, 'o', 'e', false, 4] });
    const strict = await machine.run(planOf('Application', text, 'return s()'));
    expect(strict).toMatchObject({
      code: 1,
      body: {
        Type: 'ScriptError',
        Message: 's ended with exit code 3',
        AdditionalInfo: { script: 's', function: null, exitCode: 3, stdout: 'o', stderr: 'e' },
        Stack: ['<plan>:1 in Body: return s()'],
      },
    });
    expect(strict.calls.at(-1)).toMatchObject({ n: 1, state: 'failed', exitCode: 3 });
    const caught = await machine.run(
      planOf('Application', text, 'try:\n  s()\nexcept ScriptError as e:\n  return e.stdout'),
    );
    expect(caught).toMatchObject({ code: 0, body: 'o' });
  });

  test('says what is missing', async () => {
    const Options = { commandLine: '{9}' };
    const missing = await machine.run(planOf('Application', showArguments, 's()', { Options }));
    expect(missing).toMatchObject({ code: 1, body: { Message: 's needs an argument 10.' } });
    const fn = await machine.run(planOf('Application', showArguments, 's.fn()'));
    expect(fn).toMatchObject({ code: 1, body: { AdditionalInfo: { script: 's', function: 'fn' } } });
  });

  test('says how to pass a value that is too long for an argument or a variable', async () => {
    const cause = 's could not be called: Its arguments and environment variables are too large.';
    const body = 'return s("x" * 200000).stdout';
    for (const Options of [{}, { commandLine: '{0}' }, { commandLine: 'a', environment: { A: '{0}' } }]) {
      const long = await machine.run(planOf('Application', 'true', body, { Options }));
      expect(long).toMatchObject({ code: 1, body: { Message: expect.stringMatching(`^${cause} Pass .* stdin`) } });
    }
    const Options = { commandLine: 'a', stdin: '{0}' };
    expect(await machine.run(planOf('Application', 'wc -c', body, { Options }))).toMatchObject({ body: '200000' });
  });

  test('runs a program that is not text, and any script without a first line', async () => {
    const plan = planOf('Application', '', 'return s("-n", "x").stdout');
    const bytes = readFileSync('/bin/echo').toString('base64');
    const { body } = await machine.run({ ...plan, Files: { f: { Name: 'echo', BodyType: 'Base64', Body: bytes } } });
    expect(body).toBe('x');
    expect((await machine.run(planOf('Application', 'echo "$1"', 'return s("y").stdout'))).body).toBe('y');
  });

  test('MU-8 a timeout ends the whole process group and strays, with code 10', async () => {
    const text = '#!/bin/sh\nsetsid sleep 300 & echo $!\nsleep 300 & echo $!\nwait';
    const plan = planOf('Application', text, 's()', { Options: { timeout: 1 } });
    const { code, body, rows } = await machine.run(plan);
    expect([code, body]).toMatchObject([10, { Type: 'ScriptTimeout', AdditionalInfo: { script: 's', seconds: 1 } }]);
    const pids = rows.filter(([, kind]) => kind === 'out').map(([, , , pid]) => String(pid));
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(readdirSync('/proc').includes(pid) && stateOf(pid) !== 'Z', pid).toBe(false);
  });

  test('a service that a call starts goes on, and its output no longer matters', async () => {
    const text = '#!/bin/sh\nsetsid sh -c "sleep 0.3; echo late; exec sleep 30" & echo $!';
    const { code, body } = await machine.run(planOf('Application', text, 'return s().stdout'));
    expect(code).toBe(0);
    expect(stateOf(String(body))).not.toBe('Z');
    process.kill(Number(body), 'SIGKILL');
  });

  test('output beyond 1 MiB reaches the transcript, but not the Body', async () => {
    const text = '#!/bin/sh\nhead -c 3000000 /dev/zero | tr "\\0" x';
    const { body, rows } = await machine.run(
      planOf('Application', text, 'r = s()\nreturn [len(r.stdout), r.truncated]'),
    );
    expect(body).toEqual([1024 * 1024, true]);
    const lines = rows.filter(([, kind]) => kind === 'out').map(([, , , line]) => String(line));
    expect(lines.join('')).toHaveLength(3_000_000);
  });
});

describe('Bash', () => {
  const text = 'greet() { echo "$1 $who $0"; }\nfail() { return 4; }\nif [ "$1" = whole ]; then echo "whole $who"; fi';

  test('MU-4 MU-5 MU-42 runs as a whole and by function, named arguments are variables', async () => {
    const Parameters = { evil };
    const body = 'return [s("whole", who=args.evil).stdout, s.greet(args.evil, who="w").stdout, s.fail]';
    const { body: value } = await machine.run(planOf('Bash', text, body.replace(', s.fail', ''), { Parameters }));
    expect(value).toEqual([`whole ${evil}`, `${evil} w s`]);
    const failed = await machine.run(planOf('Bash', text, 's.fail()'));
    expect(failed).toMatchObject({ code: 1, body: { AdditionalInfo: { function: 'fail', exitCode: 4 } } });
    const unknown = await machine.run(planOf('Bash', text, 's.nothing()', { Options: { shell: 'sh' } }));
    expect(unknown).toMatchObject({ code: 1, body: { Message: 's has no function nothing.' } });
    const reserved = await machine.run(planOf('Bash', text, 's(PATH="x")'));
    expect(reserved).toMatchObject({ code: 1, body: { Type: 'ScriptError' } });
  });

  test('a script that is not Bash fails before it runs', async () => {
    const { code, rows } = await machine.run(planOf('Bash', 'echo begun\nif true; then', 's()'));
    expect(code).toBe(1);
    expect(rows.some(([, kind]) => kind === 'out')).toBe(false);
  });
});

describe('Python', () => {
  const text = `import os, sys
count = 0
def up(by=1):
    global count
    count += by
    return count
def show():
    print('printed')
    return {'e': os.environ.get('E'), 'in': sys.stdin.read(), 'n': 1.0}
def fail():
    raise ValueError('no')
def die():
    os._exit(5)
def hang():
    import time
    time.sleep(300)
if __name__ == '__main__':
    print(sys.argv[1:])
    sys.exit(2)
`;

  test('MU-5 MU-45 is loaded once, however often its functions are called', async () => {
    const body = 'for i in range(3): r = s.up()\nreturn [r, s.up(by=2), getattr(s, "up")(3)]';
    expect((await machine.run(planOf('Python', text, body))).body).toEqual([3, 5, 8]);
  });

  test('MU-4 runs as a whole with its arguments', async () => {
    const { body } = await machine.run(
      planOf('Python', text, 'r = s("a", b=1)\nreturn [r, r.stdout]', { Options: { verifyExitcode: false } }),
    );
    expect(body).toEqual([2, "['a', '--b=1']"]);
  });

  test('a function gets environment and stdin, gives JSON, and its output is that of its call', async () => {
    const Options = { environment: { E: 'e' }, stdin: 'given' };
    const { text: json, rows } = await machine.run(planOf('Python', text, 'return s.show()', { Options }));
    expect(json).toBe('{"e": "e", "in": "given", "n": 1.0}');
    expect(rows.slice(2, 4).map((row) => row.slice(1, 4))).toEqual([
      ['out', 1, 'printed'],
      ['end', 1, { ms: expect.any(Number) }],
    ]);
  });

  longTest('an exception, a death and a timeout fail the call; the next call loads the script again', async () => {
    const raised = await machine.run(planOf('Python', text, 's.fail()'));
    expect(raised).toMatchObject({
      code: 1,
      body: { Message: 's.fail raised ValueError: no', Causes: [{ Type: 'ValueError', Message: 'no' }] },
    });
    const body = 'try:\n  s.die()\nexcept ScriptError as e:\n  code = e.exitCode\nreturn [code, s.up()]';
    expect((await machine.run(planOf('Python', text, body))).body).toEqual([5, 1]);
    const late = await machine.run(planOf('Python', text, 's.hang()', { Options: { timeout: 1 } }));
    expect(late).toMatchObject({ code: 10, body: { AdditionalInfo: { script: 's', function: 'hang', seconds: 1 } } });
    expect((await machine.run(planOf('Python', text, 's.nothing()'))).body).toMatchObject({
      Message: 's has no function nothing.',
    });
  });
});

longDescribe('a Body that ends while its call runs', () => {
  test('ends the processes of the call', async () => {
    const file = join(machine.dir, 'pid');
    const text = `#!/bin/sh\necho $$ > ${file}\nsleep 300`;
    const body = `import os, threading, time
def wait():
  while not os.path.exists('${file}') or not open('${file}').read(): time.sleep(0.01)
  os._exit(3)
threading.Thread(target=wait).start()
s()`;
    const { code, body: said } = await machine.run(planOf('Application', text, body));
    expect([code, said]).toMatchObject([1, { Type: 'BodyEnded', AdditionalInfo: { exitCode: 3 } }]);
    const pid = readFileSync(file, 'utf8').trim();
    expect(readdirSync('/proc').includes(pid) && stateOf(pid) !== 'Z').toBe(false);
  });
});

describe('a plan with several scripts', () => {
  test('MU-5 results feed later calls; names that are not identifiers are reached by index', async () => {
    const script = (EntryPoint: string, Type = 'Bash') => ({ Type, EntryPoint });
    const { code, body } = await machine.run({
      Body: 'r = [double(i) for i in range(3)]\nif r[2].stdout == "4":\n  return scripts["class"](*[int(x.stdout) for x in r]).stdout',
      Scripts: { double: script('d'), class: script('c', 'Application') },
      Files: {
        d: { Name: 'd.sh', BodyType: 'Text', Body: 'echo $(($1 * 2))' },
        c: { Name: 'c.sh', BodyType: 'Text', Body: 'echo "$@"' },
      },
    });
    expect([code, body]).toEqual([0, '0 2 4']);
  });

  test('MU-3 a platform that the machine lacks is code 3, and nothing runs', async () => {
    const { code, body, rows } = await machine.run(planOf('PowerShell', 'x', 'api.logInfo("begun")'));
    expect([code, body]).toMatchObject([3, { AdditionalInfo: { faults: [{ path: '/Scripts/s/Type' }] } }]);
    expect(rows).toEqual([]);
  });

  test('a machine without Python answers each plan with code 3', async () => {
    const found = await findPlatforms({ PATH: '/nowhere' });
    expect(platformReport(found, true)).toEqual({
      platforms: { Application: { version: '2.0.0' } },
      python: null,
      executionPlans: 'on',
    });
    const bare = await planMachine(found);
    expect(await bare.body('return 1')).toMatchObject({ code: 3, body: { Type: 'PlatformMissing' } });
    bare.close();
  });

  test('the folder of scripts and the working folder are gone at the end', async () => {
    const { body } = await machine.run(planOf('Bash', 'pwd; echo "$ANNEX_WORK"', 'return s().stdout'));
    for (const folder of String(body).split('\n'))
      expect(folder.startsWith(join(machine.dir, 'executions'))).toBe(true);
    expect(readdirSync(join(machine.dir, 'executions'))).toEqual([]);
  });
});

function stateOf(pid: string): string | undefined {
  return /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}
