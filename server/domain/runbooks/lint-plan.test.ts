import { expect, test } from 'vitest';
import { judgePlan } from './judge-plan.ts';
import { lintPlan } from './lint-plan.ts';
import type { ParameterSchema } from './parameters.ts';

const schema: ParameterSchema = {
  type: 'object',
  properties: { who: { type: 'string' }, token: { type: 'string', writeOnly: true } },
  additionalProperties: false,
};
const timed = { Options: { timeout: 60 } };

/** Returns the codes of the warnings, with their lines, names and parameters. */
function warningsOf(
  body: string,
  script?: object,
  given: ParameterSchema | null | 'unknown' = schema,
  file = '#!/bin/sh\n',
) {
  const plan = {
    FormatVersion: '2.0.0',
    Body: body,
    Scripts: script === undefined ? {} : { hello: { Type: 'Application', EntryPoint: 'f', Files: [], ...script } },
    Files: { f: { Name: 'hello.sh', BodyType: 'Text', Body: file } },
  };
  const judged = judgePlan(plan, null);
  if ('faults' in judged) throw new Error(JSON.stringify(judged.faults));
  return lintPlan(judged.plan, given === 'unknown' ? undefined : given).map(({ code, params }) =>
    [code, ...Object.values(params ?? {})].join(' '),
  );
}

test.each([
  ['a call of a script with its parameters', 'return hello(args.who).stdout'],
  ['methods of the parameters', 'for name in args.keys():\n    print(args.get("days"), name)\nreturn hello.fn(1)'],
  ['its own functions and classes', 'def f(x):\n    return g(x)\ng = len\nclass A: pass\nreturn [f(A()) for f in [f]]'],
  [
    'built-in functions and exceptions',
    'try:\n    raise ValueError(str(1))\nexcept ScriptError as e:\n    return repr(e)',
  ],
  [
    'modules of the standard library',
    'import json, os.path as p\nfrom urllib.request import urlopen\nreturn urlopen("x")',
  ],
  ['a module that may be missing', 'try:\n    import yaml\nexcept ImportError:\n    yaml = None'],
  ['strings and comments', 'a = "args.nope import yaml"  # sys.exit(1)\nb = """\nargs.nope\n"""\nreturn a + b'],
  ['an indented Body', '    import json\n    if args.who:\n        return json.dumps(1)'],
  ['a restart with a timeout', 'api.waitReboot(timeout=600)\napi.waitReboot(5)'],
  ['newer syntax', 'match args.who:\n    case "a" | "b":\n        return (n := 1)\nreturn f"{args.who!r:>{n}}"'],
])('there is no warning about %s', (_, body) => {
  expect(warningsOf(body, timed)).toEqual([]);
});

test.each([
  ['return args.webhook', ['lint_unknown_parameter 1 webhook']],
  ['return f"{args.webhook}"', ['lint_unknown_parameter 1 webhook']],
  ['x = 1\nreturn hallo(x)', ['lint_unknown_call 2 hallo']],
  [
    'import os, yaml.nodes\nfrom requests import get\nget(1)',
    ['lint_unknown_module 1 yaml', 'lint_unknown_module 2 requests'],
  ],
  ['import sys\nsys.exit(3)', ['lint_sys_exit 2 sys.exit']],
  ['exit(3)', ['lint_sys_exit 1 exit']],
  ['from os import *', ['lint_import_all 1']],
  ['api.waitReboot()', ['lint_wait_reboot 1']],
  ['x = 1\nif x\n    return 1\nreturn (', ['lint_syntax 2']],
])('the Body %j gets a warning', (body, expected) => {
  expect(warningsOf(body)).toEqual(expected);
});

test.each([
  ['no schema is given', 'unknown' as const],
  ['the schema allows further parameters', { type: 'object' }],
])('unknown parameters are no mistake if %s', (_, given) => {
  expect(warningsOf('return args.webhook', undefined, given)).toEqual([]);
});

test('a runbook that accepts no parameters has none', () => {
  expect(warningsOf('return args.who', undefined, null)).toEqual(['lint_unknown_parameter 1 who']);
});

test.each([
  ['has no timeout', {}, undefined, ['lint_script_timeout hello']],
  ['is an application without #!', timed, 'echo\n', ['lint_shebang hello']],
  ['has Windows line endings', timed, '#!/bin/sh\r\n', ['lint_crlf hello.sh']],
])('a script that %s gets a warning', (_, script, file, expected) => {
  expect(warningsOf('return 1', script, schema, file)).toEqual(expected);
});

const exposed = ['lint_secret_on_command_line hello token'];
const line = (commandLine: string, more = {}) => ({ Options: { timeout: 60, commandLine, ...more } });
test.each([
  ['an argument of an application', 'hello(1, args.token)', timed, exposed],
  ['a named argument of an application', 'hello(key=args.token)', timed, exposed],
  ['an argument in a command line', 'hello(1, args.token)', line('{entryPoint} {1}'), exposed],
  ['all arguments in a command line', 'hello(args.token)', line('x {*}'), exposed],
  ['an argument of Bash', 'hello.fn(args.token)', { ...timed, Type: 'Bash' }, exposed],
  ['a variable of Bash', 'hello(key=args.token)', { ...timed, Type: 'Bash' }, []],
  [
    'an argument that only the environment uses',
    'hello(key=args.token)',
    line('x', { environment: { KEY: '{key}' } }),
    [],
  ],
  ['a plain parameter', 'hello(args.who)', timed, []],
])('a secret parameter as %s', (_, body, script, expected) => {
  expect(warningsOf(body, script)).toEqual(expected);
});

test('a very long or deeply nested Body is checked quickly', () => {
  const started = performance.now();
  expect(warningsOf(`return ${'a'.repeat(300_000)}()`)).toEqual([]);
  expect(warningsOf(`return ${'['.repeat(10_000)}`)).toEqual(['lint_syntax 1']);
  expect(warningsOf('a()\n'.repeat(50_000))).toHaveLength(100);
  expect(performance.now() - started).toBeLessThan(5_000);
});
