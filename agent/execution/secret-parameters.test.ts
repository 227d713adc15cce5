import { afterAll, beforeAll, expect, test } from 'vitest';
import { layoutOf } from '../folder/layout.ts';
import { createKey } from '../identity/create-key.ts';
import { type PlanMachine, type PlanRun, planMachine } from '../testing/plan-run.ts';
import { sealedFor } from '../testing/seal.ts';

const secrets = { password: 'pässword-29b7', lines: 'first-line-31\nsecond-line-32', nested: { pin: 48_151_623 } };

let machine: PlanMachine;
beforeAll(async () => {
  machine = await planMachine();
  await createKey(layoutOf(machine.dir), 'machine');
});
afterAll(() => machine.close());

/** Runs a plan with the secret parameters, encrypted for the machine. */
function runWithSecrets(plan: object, values: object = secrets): Promise<PlanRun> {
  const { protectedSettings, protectedSettingsCertThumbprint } = sealedFor(machine.dir, values);
  const envelope = {
    protectedParameters: protectedSettings,
    protectedParametersCertThumbprint: protectedSettingsCertThumbprint,
  };
  return machine.run(plan, { envelope });
}

const script = (text: string, Options: object = {}) => ({
  Scripts: { s: { Type: 'Application', EntryPoint: 'f', Options } },
  Files: { f: { Name: 's.sh', BodyType: 'Text', Body: `#!/bin/sh\n${text}\n` } },
});

test('secret parameters are laid over the parameters of the plan, by name and nested', async () => {
  const { body, code } = await runWithSecrets({
    Body: "return [args.who, len(args.password), args.nested.pin % 10, args['lines'].count('-'), len(args)]",
    Parameters: { who: 'w' },
  });
  expect([code, body]).toEqual([0, ['w', 13, 3, 4, 4]]);
});

test.each<[how: string, plan: object]>([
  ['prints it', { Body: 'print(args.password, args.nested.pin)\nprint(args.lines)' }],
  ['prints it in base64', { Body: 'import base64\nprint(base64.b64encode(b"x" + args.password.encode()))' }],
  ['prints it in short lines', { Body: 'for c in args.password:\n  print(c, flush=True)' }],
  ['writes it without line endings', { Body: 'import sys\nfor c in args.password:\n  sys.stderr.write(c)' }],
  ['logs it', { Body: 'api.logInfo(args)\napi.logError(args.password)\napi.logWarning(args.lines)' }],
  ['returns it', { Body: 'return {args.password: [args.nested, args.lines]}' }],
  ['fails with it', { Body: 'raise ValueError(args.password)' }],
  ['logs an exception with it', { Body: 'try:\n  {}[args.password]\nexcept KeyError:\n  api.logFatalError("x")' }],
  ['calls a function of its name', { Body: 'getattr(s, args.password)()', ...script('true') }],
  ['asks for a parameter of its name', { Body: 'args[args.password]' }],
  ['puts a file at its name', { Body: 'api.putFile("f", args.at + args.password)', ...script('true') }],
  ['gives it to a script', { Body: 's(args.password)', ...script('echo "$1" >&2; exit 3') }],
  [
    'gives it by environment and stdin',
    {
      Body: 'return s(args.password, args.lines).stdout',
      ...script('echo "$P"; cat', { environment: { P: '{0}' }, stdin: '{1}' }),
    },
  ],
])('a secret is masked where a plan %s', async (_, plan) => {
  const { text, rows, journal, calls } = await runWithSecrets({ Parameters: { at: `${machine.dir}/at-` }, ...plan });
  const seen = [text, ...rows.map((row) => JSON.stringify(row)), ...journal, JSON.stringify(calls)].join('\n');
  for (const secret of ['pässword', 'p\\u00e4ssword', '29b7', 'first-line', 'second-line', '48151623']) {
    expect(seen).not.toContain(secret);
  }
  const encoded = Buffer.from(`x${secrets.password}`).toString('base64');
  expect(seen).not.toContain(encoded.slice(4, 16));
  expect(seen).toContain('[masked]');
});

test('case 41: a secret parameter that is a list reaches the Body as a whole, and each text in it is masked', async () => {
  const sites = [['plain-site-7731', { login: ['user-7731', 'hunter2-7731'] }]];
  const Body = 'print(args.sites)\nfor part in args.sites[0]: api.logInfo(part)\nreturn [len(args.sites), args.sites]';
  const { body, rows, text } = await runWithSecrets({ Body }, { sites });
  expect(body).toEqual([1, [['[masked]', { login: ['[masked]', '[masked]'] }]]]);
  expect(`${text}${JSON.stringify(rows)}`).not.toContain('7731');
});

test('a plan whose secret parameters cannot be decrypted does not run', async () => {
  const envelope = { protectedParameters: 'AAAA', protectedParametersCertThumbprint: 'F'.repeat(40) };
  const { code, body, rows } = await machine.run({ Body: 'return 1' }, { envelope });
  expect([code, body, rows]).toMatchObject([1, { Type: 'SecretsUnavailable' }, []]);
});
