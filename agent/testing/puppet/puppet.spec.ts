import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlanMachine, planMachine } from '../plan-run.ts';
import { fetchPuppet } from './fetch-puppet.ts';

let machine: PlanMachine;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-puppet-'));
  machine = await planMachine(undefined, `${await fetchPuppet()}:${process.env.PATH}`);
});
afterAll(() => {
  machine.close();
  rmSync(folder, { recursive: true, force: true });
});

const evil = `'; rm -rf x $(id) "\n\\`;

interface More {
  Options?: object;
  EntryPoint?: string;
  Files?: Record<string, { Name: string; Body: string }>;
}

const planOf = (text: string, Body: string, { Options = {}, EntryPoint = 'f', Files = {} }: More = {}) => ({
  FormatVersion: '2.1.0',
  Body,
  Parameters: { evil, target: join(folder, 'made') },
  Scripts: { s: { Type: 'Puppet', Version: '7.0', EntryPoint, Files: Object.keys(Files), Options } },
  Files: Object.fromEntries(
    Object.entries({ f: { Name: 'site.pp', Body: text }, ...Files }).map(([id, file]) => [
      id,
      { BodyType: 'Text', ...file },
    ]),
  ),
});

/** Runs a plan with a timeout that suffices on a busy machine. */
const run = (plan: object) => machine.run(plan, { timeoutSeconds: 170 });

test('a manifest changes the machine once, and gets facts unchanged', async () => {
  const text = 'file { $target: content => $who }';
  const body =
    'r = [s(target=args.target, who=args.evil) for i in range(2)]\nreturn [[each, each.changed] for each in r]';
  const ran = await run(planOf(text, body));
  expect(ran.body).toEqual([
    [2, true],
    [0, false],
  ]);
  expect(readFileSync(join(folder, 'made'), 'utf8')).toBe(evil);
});

test('with noop, nothing changes', async () => {
  const target = join(folder, 'not-made');
  const plan = planOf(`file { '${target}': content => 'x' }`, 'return s()', { Options: { noop: true } });
  expect((await run(plan)).body).toBe(0);
  expect(existsSync(target)).toBe(false);
});

/** Returns a module whose class writes a value to a file. */
const moduleOf = (content: string) => ({
  site: {
    Name: 'modules/web/manifests/site.pp',
    Body: `class web::site(Any $value, String $target) { file { $target: content => ${content} } }`,
  },
});

test('classes of the manifest and of modules in the plan get their parameters unchanged', async () => {
  const text = 'class own(String $who) { notify { $who: } }';
  const body = "getattr(s, 'web::site')(target=args.target, value=args.evil)\nreturn s.own(who='me').stdout";
  expect((await run(planOf(text, body, { Files: moduleOf('$value') }))).body).toContain('me');
  expect(readFileSync(join(folder, 'made'), 'utf8')).toBe(evil);
});

test('an entry point can be a class, with parameters of every type', async () => {
  const call = "s(target=args.target, value=[1, -1.5, 1e30, True, None, {'a b': [{}]}])";
  const given = { EntryPoint: 'web::site', Files: moduleOf("String($value, '%p')") };
  const ran = await run(planOf('', call, given));
  expect(ran.code, ran.text).toBe(0);
  const written = readFileSync(join(folder, 'made'), 'utf8').replaceAll(/\s+/g, '');
  expect(written).toMatch(/^\[1,-1\.50*,1(?:\.0+)?e\+30,true,undef,\{'ab'=>\[\{\}\]\}\]$/);
});

test('a manifest that fails, and an unknown class, fail the call', async () => {
  const failed = await run(planOf("exec { '/bin/false': }", 's()'));
  expect(failed).toMatchObject({ code: 1, body: { AdditionalInfo: { exitCode: 4 } } });
  const unknown = await run(planOf('', 's.nothing()'));
  expect(unknown).toMatchObject({
    code: 1,
    body: { AdditionalInfo: { exitCode: 1, stderr: expect.stringContaining('Could not find declared class nothing') } },
  });
});
