import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf, uploadRunbookFile } from '#server/domain/runbook-files/testing/upload.ts';
import { type ExecutionPortal, openExecutionPortal, type PortalMachine } from './testing/execution-portal.ts';

let portal: ExecutionPortal;
let machine: PortalMachine;
beforeAll(async () => {
  portal = await openExecutionPortal();
  machine = await portal.machine();
  await machine.start();
});
afterAll(() => portal.close());

test('MU-7 a machine fetches files by their ids from the portal, once, with the contents from when the plan was queued', async () => {
  const contents = randomBytes(300_000).toString('base64');
  await uploadRunbookFile(portal.admin, 'tools/probe ü', contents);
  const plan = {
    FormatVersion: '2.0.0',
    Body: `import hashlib
def digest(file):
  return hashlib.sha256(open(api.putFile(file, file.strip('_') + '-copy'), 'rb').read()).hexdigest()
return [digest('a/ü'), digest('__proto__'), check().stdout]`,
    Scripts: { check: { Type: 'Application', EntryPoint: 'main', Files: ['a/ü'] } },
    Files: {
      'a/ü': { Name: 'data/probe.txt', BodyType: 'ID', Body: 'tools/probe ü' },
      ['__proto__']: { Name: 'again.txt', BodyType: 'ID', Body: 'tools/probe ü' },
      main: { Name: 'main.sh', BodyType: 'Text', Body: '#!/bin/sh\nwc -c < data/probe.txt' },
    },
  };
  const { id } = await machine.queue(plan);
  await uploadRunbookFile(portal.admin, 'tools/probe ü', 'replaced');
  await machine.until(id, 'its end', ({ concludedAt }) => concludedAt !== null);
  expect(await machine.result(id)).toMatchObject({
    ErrorCode: 0,
    Body: [digestOf(contents), digestOf(contents), String(contents.length)],
  });
  expect(readdirSync(join(machine.dir, 'plan-cache'))).toEqual([digestOf(contents)]);
});

test('secret parameters are nowhere on the disk of the machine while an execution runs, and the folder of the execution is deleted', async () => {
  const password = `pw-${randomBytes(9).toString('hex')}`;
  const forms = [password, Buffer.from(password).toString('base64').replace(/=+$/, '')];
  const Body = `import os
found = 0
for folder, _, names in os.walk(args.dir):
  for name in names:
    path = os.path.join(folder, name)
    if os.path.isfile(path):
      data = open(path, 'rb').read()
      found += any(form.encode() in data for form in args.forms)
print(args.password)
return [found, len(args.password), hide(args.password).stdout]`;
  const { result, execution, log } = await machine.run(
    {
      FormatVersion: '2.0.0',
      Body,
      Parameters: { dir: machine.dir },
      Scripts: {
        hide: { Type: 'Application', EntryPoint: 'f', Options: { environment: { P: '{0}' }, commandLine: '' } },
      },
      Files: { f: { Name: 'f.sh', BodyType: 'Text', Body: '#!/bin/sh\necho "$(printf %s "$P" | wc -c) $P"' } },
    },
    { secretParameters: { password, forms } },
  );
  expect(result).toMatchObject({ ErrorCode: 0, Body: [0, password.length, `${password.length} [masked]`] });
  expect(execution.secretParameters).toEqual(['forms', 'password']);
  expect(log.map(({ text }) => text)).toContain('[masked]');
  await expect.poll(() => readdirSync(join(machine.dir, 'executions')), { timeout: 15_000 }).toEqual(['answers']);
});
