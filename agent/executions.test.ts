import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExecutionPortal, openExecutionPortal, type PortalMachine } from './testing/execution-portal.ts';

let portal: ExecutionPortal;
let machine: PortalMachine;
beforeAll(async () => {
  portal = await openExecutionPortal();
  machine = await portal.machine();
  await machine.start();
});
afterAll(() => portal.close());

const hello = {
  FormatVersion: '2.0.0',
  Action: 'Execute',
  Name: 'Hello',
  Version: '1.0.0',
  Service: 'web',
  Body: "api.logInfo('renewing')\nreturn hello(args.who).stdout",
  Parameters: { who: 'w' },
  Scripts: { hello: { Type: 'Application', Version: '1.0.0', EntryPoint: 'f1', Files: [], Options: {} } },
  Files: { f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\necho hello $1\n' } },
};

describe('an execution with a real portal', () => {
  test('MU-9 runs, tells its transcript, and gives one result', async () => {
    const { execution, result, log } = await machine.run(hello);
    expect(result).toMatchObject({ ErrorCode: 0, Body: 'hello w', Action: 'Execute:Result', SourceID: execution.id });
    expect(execution).toMatchObject({ state: 'succeeded', calls: [{ n: 1, state: 'succeeded', exitCode: 0 }] });
    expect(log.map(({ kind, n, text }) => [kind, n, text])).toEqual([
      ['begin', null, 'first'],
      ['log', null, 'renewing'],
      ['call', 1, 'hello'],
      ['out', 1, 'hello w'],
      ['end', 1, expect.stringMatching(/^\{"exitCode":0,"ms":\d+\}$/)],
      ['done', 0, ''],
    ]);
  });
});
