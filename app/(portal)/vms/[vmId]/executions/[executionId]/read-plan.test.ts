import { expect, test } from 'vitest';
import { readPlan } from './read-plan.ts';

test('a plan is shown in its parts, with the names of its files', () => {
  const plan = {
    Body: 'return hello(args.who).stdout',
    Parameters: { who: 'w' },
    Scripts: {
      hello: { Type: 'Application', EntryPoint: 'f1', Files: [] },
      install: { Type: 'Python', EntryPoint: 'setup.run', Files: ['f1', 'f2', 'f1'] },
    },
    Files: {
      f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\n' },
      f2: { BodyType: 'Base64', Body: 'AA==' },
    },
  };
  expect(readPlan(JSON.stringify(plan))).toEqual({
    body: 'return hello(args.who).stdout',
    parameters: { who: 'w' },
    scripts: [
      { name: 'hello', type: 'Application', entryPoint: 'hello.sh', files: 1 },
      { name: 'install', type: 'Python', entryPoint: 'setup.run', files: 2 },
    ],
    files: [
      { id: 'f1', name: 'hello.sh', kind: 'Text', text: '#!/bin/sh\n' },
      { id: 'f2', name: 'f2', kind: 'Base64', text: null },
    ],
  });
});

test('a plan without a Body is shown as JSON only', () => {
  expect(readPlan('{"Scripts":[],"Commands":[]}')).toBeNull();
});
