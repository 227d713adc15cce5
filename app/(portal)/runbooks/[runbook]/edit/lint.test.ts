import { expect, test } from 'vitest';
import { lintPlan, withoutTexts } from './lint.ts';

const known = { names: ['who'], secrets: ['token'], isOpen: false };
const plan = (Body: string, script?: object, file = '#!/bin/sh\n') =>
  JSON.stringify({
    FormatVersion: '2.0.0',
    Body,
    Scripts: script === undefined ? {} : { hello: { Type: 'Application', EntryPoint: 'f', ...script } },
    Files: { f: { Name: 'hello.sh', BodyType: 'Text', Body: file } },
  });
const timed = { Options: { timeout: 60 } };

test('a plan without anything doubtful has no warnings', () => {
  expect(lintPlan(plan('return hello(args.who, args.get("days"), args.token).stdout', timed), known)).toEqual([]);
  expect(lintPlan('{', known)).toEqual([]);
});

test.each([
  ['a parameter that is not there', 'x = 1\nreturn args.webhook', { id: 'unknownParameter', name: 'webhook', line: 2 }],
  ['sys.exit', 'import sys\nsys.exit(3)', { id: 'sysExit', name: '', line: 2 }],
  ['an import of all names', 'from os import *', { id: 'importAll', name: '', line: 1 }],
])('the Body uses %s', (_, body, warning) => {
  expect(lintPlan(plan(body), known)).toEqual([warning]);
});

test('strings and comments are not code', () => {
  const body = `a = "args.nope"  # args.nope\nb = '''\nargs.nope\n'''\nreturn args.who`;
  expect(lintPlan(plan(body), known)).toEqual([]);
  expect(withoutTexts(body).split('\n')).toHaveLength(5);
});

test('any parameter may be there if the schema allows others', () => {
  expect(lintPlan(plan('return args.webhook'), { ...known, isOpen: true })).toEqual([]);
});

test.each([
  ['has no timeout', {}, '#!/bin/sh\n', { id: 'scriptTimeout', name: 'hello' }],
  ['is an application without #!', timed, 'echo\n', { id: 'noShebang', name: 'hello' }],
  ['has line endings of Windows', timed, '#!/bin/sh\r\n', { id: 'crlf', name: 'hello.sh' }],
  [
    'gets a secret on its command line',
    { Options: { timeout: 60, commandLine: '{entryPoint} {token}' } },
    '#!/bin/sh\n',
    { id: 'secretOnCommandLine', name: 'hello' },
  ],
])('a script %s', (_, script, file, warning) => {
  expect(lintPlan(plan('return 1', script, file), known)).toEqual([{ ...warning, line: null }]);
});
