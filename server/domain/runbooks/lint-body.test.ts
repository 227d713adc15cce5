import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { lintBody, type ParsedBody, parseBody, passedParameters } from './lint-body.ts';
import { knownCallables, standardModules } from './python-names.ts';

const scripts = new Set(['install', 'verify']);
const parameters = new Set(['host', 'days', 'items']);

function parsed(body: string): ParsedBody {
  const result = parseBody(body);
  if (result === null) throw new Error('The Body is too long.');
  return result;
}

const warningsOf = (body: string, known: ReadonlySet<string> | null = parameters) =>
  lintBody(parsed(body), { scripts, parameters: known });
const codesOf = (body: string) => warningsOf(body).map(({ code }) => code);

const realistic = `
import json
import os.path
from datetime import datetime, timedelta
from urllib.request import Request, urlopen

limit = datetime.utcnow() + timedelta(days=args.get('days', 30))

class Renewal(Exception):
    """Raised if 'args.nothing' or sys.exit() would be needed."""
    def __init__(self, name, *rest, **more):
        super().__init__(name)
        self.name = name

def chosen(names):
    return sorted(name for name in names if not name.startswith('.'))

@staticmethod
def decorated(value, key=lambda each: each):
    return key(value)

results = {}
for name, (first, *others) in {'a': [1, 2]}.items():
    with open(os.path.join('/tmp', name)) as file:
        results[name] = json.load(file)
    try:
        done = install.apply(args.host, retries=3)
        if (count := len(others)) > 2 and args['host']:
            continue
    except (ScriptError, ScriptTimeout) as error:
        api.logWarning(f'{name}: {error.exitCode!r:>4} {args.host}')
        raise Renewal(name) from error
    finally:
        api.setState('last', name)
while not verify():
    api.waitReboot(timeout=600)
print(chosen(args.items), limit.isoformat(), end='')
return {**results, 'ok': all(results.values()), 'hosts': [x for x in args.items if x]}
`;

test('a realistic Body has no warnings', () => {
  expect(warningsOf(realistic)).toEqual([]);
});

test('warnings are in the order of the lines, with the line and the name', () => {
  const body = 'import yaml\nx = args.port\ny = instal()\nimport sys\nsys.exit(1)\nreturn x + y';
  const at = (line: number, code: string, name?: string) => ({
    path: '/Body',
    code,
    params: { line, ...(name !== undefined && { name }) },
  });
  expect(warningsOf(body)).toEqual([
    at(1, 'lint_unknown_module', 'yaml'),
    at(2, 'lint_unknown_parameter', 'port'),
    at(3, 'lint_unknown_call', 'instal'),
    at(5, 'lint_sys_exit', 'sys.exit'),
  ]);
});

describe('a name is not a missing script if the Body', () => {
  test.each([
    ['assigns it', 'f = g\nreturn f()'],
    ['defines a function', 'def f():\n  pass\nreturn f()'],
    ['defines it after the call', 'def a():\n  return f()\ndef f():\n  pass\nreturn a()'],
    ['imports it', 'from json import loads as f\nreturn f()'],
    ['gets it as an argument', 'def a(f):\n  return f()\nreturn a(len)'],
    ['iterates over it', 'for f in [len]:\n  f()'],
    ['opens it', 'with open("x") as f:\n  f()'],
    ['calls its attribute only', 'import os\nreturn os.getcwd()'],
  ])('%s', (_, body) => {
    expect(codesOf(body)).toEqual([]);
  });
});

describe('a parameter', () => {
  test.each([
    ['that a method hides is read without a call', 'return args.keys', ['lint_unknown_parameter']],
    ['is not a method that is called', 'return list(args.keys())', []],
    ['with the name of a method is known', 'return args.items', []],
    ['can be assigned to another name', 'a = args\nreturn a.nothing', []],
    ['of another object is not checked', 'import argparse\nx = argparse.Namespace()\nreturn x.args.nothing', []],
    ['is found in nested expressions', 'return [{"a": (args.nothing,)}]', ['lint_unknown_parameter']],
  ])('%s', (_, body, codes) => {
    expect(codesOf(body)).toEqual(codes);
  });

  test('is never unknown if the Body may get others', () => {
    expect(warningsOf('return args.nothing', null)).toEqual([]);
  });
});

describe('the Body is probably not valid Python if', () => {
  test.each([
    ['a bracket is open', 'x = (1,\ny = 2', 2],
    ['a colon is missing', 'a = 1\n\nwhile a\n  a = 0', 3],
    ['a string does not end', 'return "a', 1],
    ['it is another language', 'a = 1\nif [ "$1" = x ]; then echo; fi', 2],
  ])('%s; only the first place is named', (_, body, line) => {
    const found = warningsOf(body).filter(({ code }) => code === 'lint_syntax');
    expect(found).toHaveLength(1);
    expect(Number(found[0]?.params?.line)).toBeLessThanOrEqual(line + 1);
  });

  test.each([
    ['an indented Body is valid, as for the agent', '\n    a = 1\n    if a:\n        return a\n'],
    ['tabs are valid', 'if args.host:\n\treturn 1'],
    ['comments and empty lines are valid', '# a\n\n   # b\nreturn 1'],
    ['an empty Body is valid', ''],
  ])('%s', (_, body) => {
    expect(codesOf(body)).toEqual([]);
  });
});

test('a Body of more than 256 KiB is not analyzed', () => {
  expect(parseBody(`#${'x'.repeat(262_144)}`)).toBeNull();
});

test.each([
  ['install(args.host)', [{ parameter: 'host', position: 0, name: null }]],
  ['install.apply(1, [2, 3], args.host)', [{ parameter: 'host', position: 2, name: null }]],
  [
    'install(1, key=args.host, other=args.days)',
    [
      { parameter: 'host', position: 1, name: 'key' },
      { parameter: 'days', position: 1, name: 'other' },
    ],
  ],
  ['print(args.host)', []],
  ['install(str(args.host))', []],
])('the parameters that %s passes to a script', (body, passed) => {
  expect(passedParameters(parsed(body), scripts)).toEqual(passed.map((one) => ({ script: 'install', ...one })));
});

test('the modules and built-in functions of this Python are known', async () => {
  const program = `import builtins, json, sys
modules = [name for name in getattr(sys, 'stdlib_module_names', ()) if not name.startswith('_')]
functions = [name for name in dir(builtins) if callable(getattr(builtins, name)) and not name.startswith('_')]
print(json.dumps([modules, [name for name in functions if not isinstance(getattr(builtins, name), type)]]))`;
  const { stdout } = await promisify(execFile)('python3', ['-c', program]);
  const [modules, functions] = JSON.parse(stdout) as [string[], string[]];
  // Modules for other systems and for tests, and modules of Python's own tools.
  const others = /^(nt|ms|win|_)|path$|idlelib|lib2to3|sre_|encodings|turtledemo|pydoc_data|imaplib|opcode|nturl2path/;
  expect(modules.filter((name) => !standardModules.has(name) && !others.test(name))).toEqual([]);
  const interactive = ['copyright', 'credits', 'exit', 'help', 'license', 'quit'];
  expect(functions.filter((name) => !knownCallables.has(name) && !interactive.includes(name))).toEqual([]);
});
