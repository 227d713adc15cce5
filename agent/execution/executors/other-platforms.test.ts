import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { type PlanMachine, planMachine } from '../../testing/plan-run.ts';
import { writeStandIns } from '../../testing/stand-ins.ts';
import { findPlatforms, platformReport } from '../platforms.ts';

let machine: PlanMachine;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-stand-ins-'));
  machine = await planMachine(undefined, writeStandIns(folder));
});
afterAll(() => {
  machine.close();
  rmSync(folder, { recursive: true, force: true });
});

const evil = `'; rm -rf x $(id) "`;

interface More {
  Options?: object;
  EntryPoint?: string;
  /** Name of the entry point's file. */
  name?: string;
  /** Other files of the script, by name. */
  others?: Record<string, string>;
}

/** Returns a plan with one script, `s`, and a parameter with quotes. */
const planOf = (
  Type: string,
  text: string,
  Body: string,
  { Options = {}, EntryPoint, name = 's', others = {} }: More = {},
) => {
  const files = Object.entries(others).map(([Name, body], index) => [
    `o${index}`,
    { Name, BodyType: 'Text', Body: body },
  ]);
  return {
    FormatVersion: '2.1.0',
    Body,
    Parameters: { evil },
    Scripts: { s: { Type, EntryPoint: EntryPoint ?? 'f', Files: files.map(([id]) => id), Options } },
    Files: { f: { Name: name, BodyType: 'Text', Body: text }, ...Object.fromEntries(files) },
  };
};

/** Returns a Body that makes these calls and returns the messages of their errors. */
const bodyOf = (calls: readonly string[]) =>
  `m = []\n${calls.map((call) => `try:\n  ${call}\nexcept ScriptError as e:\n  m.append(str(e))\n`).join('')}return m`;

const messagesOf = async (plan: object) => (await machine.run(plan)).body;

test('MU-4 the platforms whose programs are on the machine are found with their versions', async () => {
  const found = await findPlatforms({ PATH: `${folder}:${process.env.PATH}` });
  expect(platformReport(found, true).platforms).toMatchObject({
    PowerShell: { version: '7.4.6' },
    Puppet: { version: '7.23.0' },
    Chef: { version: '18.2.7' },
    SaltStack: { version: '3006.9' },
  });
  expect(Object.keys(platformReport(await findPlatforms({ PATH: '/usr/bin:/bin' }), true).platforms)).not.toContain(
    'Chef',
  );
});

describe('PowerShell', () => {
  const text =
    'function New-Person {}\nfunction fail { throw 1 }\nfunction leave { exit 3 }\nfunction wait { Start-Sleep }';

  test('MU-4 a function gets its arguments unchanged, and returns a list', async () => {
    const Options = { environment: { E: '{name}' }, stdin: '{0}' };
    const body = "return getattr(s, 'New-Person')(args.evil, 1.0, name=args.evil)";
    const { body: value, rows } = await machine.run(planOf('PowerShell', text, body, { Options }));
    expect(value).toEqual([
      {
        ...{ function: 'New-Person', args: [evil, 1], kwargs: { name: evil } },
        ...{ environment: { E: evil }, stdin: evil, count: 1 },
      },
    ]);
    expect(rows).toContainEqual([expect.any(Number), 'out', 1, 'host: New-Person']);
  });

  test('is loaded once, however often its functions are called', async () => {
    const body = "for i in range(3): r = getattr(s, 'New-Person')()\nreturn r[0]['count']";
    expect((await machine.run(planOf('PowerShell', text, body))).body).toBe(3);
  });

  longTest('an exception, an exit and a timeout fail the call; the next call loads the script again', async () => {
    expect(await machine.run(planOf('PowerShell', text, 's.fail()'))).toMatchObject({
      code: 1,
      body: { Message: 's.fail raised RuntimeException: thrown', Causes: [{ Stack: ['at fail'] }] },
    });
    const body = `try:\n  s.leave()\nexcept ScriptError as e:\n  code = e.exitCode\nreturn [code, getattr(s, 'New-Person')()[0]['count']]`;
    expect((await machine.run(planOf('PowerShell', text, body))).body).toEqual([3, 1]);
    const late = await machine.run(planOf('PowerShell', text, 's.wait()', { Options: { timeout: 1 } }));
    expect(late).toMatchObject({ code: 10, body: { AdditionalInfo: { script: 's', function: 'wait', seconds: 1 } } });
    expect((await machine.run(planOf('PowerShell', text, 's.nothing()'))).body).toMatchObject({
      Message: 's has no function nothing.',
    });
  });

  test('the whole script is called, and its exit code is verified', async () => {
    const whole = await machine.run(planOf('PowerShell', 'Get-Date', 'return s(1, a=2)'));
    expect(whole.body).toMatchObject([{ function: null, args: [1], kwargs: { a: 2 } }]);
    expect(await machine.run(planOf('PowerShell', 'exit 3', 's()'))).toMatchObject({
      code: 1,
      body: { Message: 's ended with exit code 3', AdditionalInfo: { exitCode: 3 } },
    });
    const lenient = planOf('PowerShell', 'exit 3', 'return s()', { Options: { verifyExitcode: false } });
    expect((await machine.run(lenient)).body).toBe(3);
  });

  test('MU-17 a vCurrent plan runs its commands in their order, and returns the last result', async () => {
    const Scripts = ['function New-Person {}', 'function fail { throw 1 }'].map((each) =>
      Buffer.from(each).toString('base64'),
    );
    const Commands = [
      { Name: 'New-Person', Arguments: { 'First Name': 'Ada' } },
      { Name: 'New-Person', Arguments: { 'First Name': evil } },
    ];
    const good = await machine.run({ FormatVersion: undefined, Scripts, Commands });
    expect(good).toMatchObject({ code: 0, body: [{ kwargs: { 'First Name': evil }, count: 2 }] });
    const bad = await machine.run({ FormatVersion: '1.0.0', Scripts, Commands: [{ Name: 'fail' }, ...Commands] });
    expect(bad).toMatchObject({ code: 1, body: { Message: 'ps.fail raised RuntimeException: thrown' } });
    expect(bad.calls.every(({ n }) => n === 1)).toBe(true);
  });
});

describe('Puppet', () => {
  const seen = (text: unknown) => JSON.parse(String(text)) as { arguments: string[]; facts: object; manifest: string };

  test('MU-4 applies the manifest; named arguments are facts', async () => {
    const { body } = await machine.run(
      planOf('Puppet', 'notice("a")', 'return s(who=args.evil, n=1).stdout', { Options: { noop: true } }),
    );
    const { arguments: given, facts, manifest } = seen(body);
    expect(given).toEqual([
      ...['apply', '--detailed-exitcodes', '--color=false'],
      expect.stringMatching(/^--modulepath=\/.*\/files\/modules:\/.*\/files:\$basemodulepath$/),
      '--noop',
    ]);
    expect([facts, manifest]).toEqual([{ who: evil, n: '1' }, 'notice("a")']);
  });

  test('a function is a class with parameters, whose values are literals', async () => {
    const call = "return getattr(s, 'web::site')(who=args.evil, h={'a\\\\': [1, 1e30, True, None]}).stdout";
    const { body } = await machine.run(planOf('Puppet', '# own', call));
    const literal = String.raw`'\'; rm -rf x $(id) "'`;
    expect(seen(body).manifest).toBe(
      `# own\nclass { 'web::site':\n  who => ${literal},\n  h => {'a\\\\' => [1, 1e30, true, undef]},\n}\n`,
    );
  });

  test('an entry point can be a class; other classes of its module are functions', async () => {
    const given = { EntryPoint: 'web::site', others: { 'modules/web/manifests/site.pp': 'class web::site {}' } };
    const { body } = await machine.run(planOf('Puppet', '', 'return [s().stdout, s.other(a=1).stdout]', given));
    const [site, other] = (body as string[]).map((text) => seen(text).manifest);
    expect([site, other]).toEqual(["class { 'web::site':\n}\n", "class { 'web::other':\n  a => 1,\n}\n"]);
  });

  longTest('exit codes 0 and 2 are success, and 2 and 6 mean changes', async () => {
    for (const code of [0, 2, 4, 6]) {
      const Options = { verifyExitcode: false };
      const all = await machine.run(planOf('Puppet', `# exit ${code}`, 'r = s()\nreturn [r, r.changed]', { Options }));
      expect(all.body).toEqual([code, code === 2 || code === 6]);
    }
    expect((await machine.run(planOf('Puppet', '# exit 2', 'return s()'))).body).toBe(2);
    expect(await machine.run(planOf('Puppet', '# exit 6', 's()'))).toMatchObject({
      code: 1,
      body: { AdditionalInfo: { exitCode: 6 } },
    });
  });

  test('arguments by position and names that Puppet does not allow are errors of the script', async () => {
    const calls = ['s(1)', 's(Name=1)', "getattr(s, 'No-Class')()"];
    expect(await messagesOf(planOf('Puppet', '', bodyOf(calls)))).toEqual([
      expect.stringContaining('by position'),
      expect.stringContaining('named Name'),
      expect.stringContaining('not the name of a Puppet class'),
    ]);
  });
});

describe('Chef', () => {
  const seen = (text: unknown) => JSON.parse(String(text)) as { recipe: string; node: object };

  test('MU-4 runs the recipe; named arguments are attributes, functions are other recipes', async () => {
    const others = { 'recipes/other.rb': 'other' };
    const body = 'return [s(who=args.evil, n=1.5).stdout, s.other().stdout]';
    const run = await machine.run(planOf('Chef', 'own', body, { name: 'recipes/web.rb', others }));
    const [own, other] = (run.body as string[]).map(seen);
    expect([own, other]).toEqual([
      { recipe: 'own', node: { who: evil, n: 1.5 } },
      { recipe: 'other', node: {} },
    ]);
  });

  test('an entry point can be a recipe of a cookbook in the plan', async () => {
    const others = { 'cookbooks/web/recipes/site.rb': 'site', 'cookbooks/web/recipes/db.rb': 'db # exit 5' };
    const body = 'return [s().stdout, s.db()]';
    const given = { EntryPoint: 'web::site', others, Options: { verifyExitcode: false } };
    const run = await machine.run(planOf('Chef', '', body, given));
    expect(run.body).toMatchObject([expect.stringContaining('"site"'), 5]);
  });

  test('useBerkshelf fetches the cookbooks of the Berksfile, once', async () => {
    const Options = { useBerkshelf: true, berksfilePath: 'b/Berksfile' };
    const others = { 'b/Berksfile': 'vendored' };
    const body = "getattr(s, 'vendored::default')()\nreturn getattr(s, 'vendored::default')().stdout";
    expect(seen((await machine.run(planOf('Chef', 'own', body, { Options, others }))).body).recipe).toBe('vendored');
    const failed = await machine.run(planOf('Chef', 'own', 's()', { Options, others: { 'b/Berksfile': 'none' } }));
    expect(failed).toMatchObject({ code: 1, body: { AdditionalInfo: { exitCode: 4 } } });
  });

  test('arguments by position and names that Chef does not allow are errors of the script', async () => {
    const calls = ['s(1)', 's(run_list=1)', "getattr(s, 'a b')()"];
    expect(await messagesOf(planOf('Chef', '', bodyOf(calls)))).toEqual([
      expect.stringContaining('by position'),
      expect.stringContaining('named run_list'),
      expect.stringContaining('not the name of a recipe'),
    ]);
  });
});

describe('SaltStack', () => {
  test('MU-4 applies the state; named arguments are the pillar', async () => {
    const body = 'r = s(who=args.evil, n=1.0)\nreturn [r, r.exitCode]';
    const run = await machine.run(planOf('SaltStack', '', body, { name: 'web/site.sls', Options: { test: true } }));
    expect(run.body).toEqual([{ local: { pillar: { who: evil, n: 1 }, test: true } }, 0]);
    expect(run.text).toContain('"n": 1.0');
  });

  test('a function of a module gets its arguments unchanged', async () => {
    const body = `return getattr(s, 'pkg.install')(args.evil, 'a=b', '#', 'yes', '', None, [1], name=args.evil)['local']`;
    const run = await machine.run(planOf('SaltStack', '', body, { name: 's.sls' }));
    expect(run.body).toMatchObject({
      ...{ function: 'pkg.install', kwargs: { name: evil } },
      args: [evil, 'a=b', '#', 'yes', '', null, [1]],
    });
    const own = await machine.run(planOf('SaltStack', '', "return s.up()['local']", { name: 'counter.py' }));
    expect(own.body).toMatchObject({ function: 'counter.up', modules: ['counter.py'] });
  });

  test('a state that failed is a failure, unless the exit code is not verified', async () => {
    const given = { name: 's.sls' };
    expect(await machine.run(planOf('SaltStack', '# exit 2', 's()', given))).toMatchObject({
      code: 1,
      body: { AdditionalInfo: { exitCode: 2, stdout: expect.stringContaining('"local"') } },
    });
    const lenient = { ...given, Options: { verifyExitcode: false } };
    expect((await machine.run(planOf('SaltStack', '# exit 2', 'return s().exitCode', lenient))).body).toBe(2);
  });

  test('names that Salt does not have, and output that is not JSON, are errors of the script', async () => {
    const calls = ['s(1)', 's()', 's.nothing()', "getattr(s, 'test.broken')()"];
    expect(await messagesOf(planOf('SaltStack', '', bodyOf(calls), { name: 'no.dots.sls' }))).toEqual([
      expect.stringContaining('by position'),
      expect.stringContaining('has no state'),
      expect.stringContaining('has no function nothing'),
      expect.stringContaining('not JSON'),
    ]);
  });
});
