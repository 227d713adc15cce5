import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { statesOf, type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const heard =
  (state: string, extension = 'echo', sequenceNumber?: number) =>
  () =>
    machine.portal.reports
      .flatMap(({ handlers }) => handlers)
      .find(
        (one) =>
          one.extension === extension &&
          one.state === state &&
          (sequenceNumber === undefined || one.sequenceNumber === sequenceNumber),
      );

test('AZ-G1 installs: package, folders, settings and environment first, then install and enable in the root', async () => {
  await machine.addHandler({
    ...echo,
    script: 'pwd; ls config/1.settings HandlerEnvironment.json; cat HandlerEnvironment.json; env | sort',
  });
  machine.portal.setGoal([{ ...echo, name: 'echo', settings: { publicSettings: { a: 1 } } }]);
  await machine.start({ environment: { PATH: process.env.PATH, SECRET_OF_THE_AGENT: 'not for handlers' } });
  const enabled = await machine.portal.until('enabled', heard('enabled'));
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable']);
  expect(statesOf(machine.portal, 'echo')).toEqual([
    '- notInstalled',
    'install installing',
    'install installed',
    'enable enabling',
    'enable enabled',
  ]);
  const root = join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0');
  expect(enabled).toMatchObject({ version: '1.0.0.0', sequenceNumber: 1, exitCode: 0, timedOut: false, attempt: 1 });
  expect(enabled.output).toContain(`${root}\n`);
  expect(enabled.output).toContain('config/1.settings\n');
  expect(enabled.output).not.toContain('SECRET_OF_THE_AGENT');
  const [{ version, handlerEnvironment }] = JSON.parse(readFileSync(join(root, 'HandlerEnvironment.json'), 'utf8'));
  expect(version).toBe(1);
  for (const folder of ['logFolder', 'configFolder', 'statusFolder']) {
    expect(existsSync(handlerEnvironment[folder])).toBe(true);
  }
  expect(JSON.parse(readFileSync(join(root, 'config', '1.settings'), 'utf8'))).toEqual({
    handlerSettings: { publicSettings: { a: 1 } },
  });
});
