import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { beyondMurano } from './beyond-murano.ts';
import { givenBoundVm, smallPlan } from './testing/bound-vm.ts';
import { plan } from './testing/machine.ts';

const script = (Type: string, EntryPoint = 'f1') => ({ Type, EntryPoint });
const file = (BodyType: string, Body: string) => ({ Name: 'f', BodyType, Body });

describe('what the Murano agent cannot run', () => {
  test.each<[what: string, plan: object, faults: string[]]>([
    ['the example plan', plan, []],
    ['format 2.2.0 with Puppet', { FormatVersion: '2.2.0', Scripts: { s: script('Puppet', 'm::c') } }, []],
    ['format 2.3.0', { FormatVersion: '2.3.0' }, ['/FormatVersion murano_format']],
    ['Bash', { FormatVersion: '2.2.0', Scripts: { s: script('Bash') } }, ['/Scripts/s/Type murano_type']],
    ['Puppet in 2.0.0', { FormatVersion: '2.0.0', Scripts: { s: script('Puppet') } }, ['/Scripts/s/Type murano_type']],
    [
      'Puppet with a file',
      { FormatVersion: '2.1.0', Scripts: { s: script('Puppet') } },
      ['/Scripts/s/EntryPoint murano_entry_point'],
    ],
    [
      'a URI',
      { FormatVersion: '2.0.0', Files: { f: file('URI', 'https://example.net/f') } },
      ['/Files/f/BodyType murano_body_type'],
    ],
    ['text in base64', { FormatVersion: '2.0.0', Files: { f: file('Base64', 'w6Q=') } }, []],
    [
      'binary base64',
      { FormatVersion: '2.0.0', Files: { f: file('Base64', '/w==') } },
      ['/Files/f/Body murano_binary'],
    ],
    ['format vCurrent', { Scripts: [], Commands: [] }, []],
  ])('%s', (_, given, faults) => {
    expect(beyondMurano(given).map(({ path, code }) => `${path} ${code}`)).toEqual(faults);
  });
});

describe('a VM with the Murano agent', () => {
  let admin: Context;
  beforeAll(async () => {
    admin = await testContext();
  });

  test('MU-64 rejects a plan beyond that agent with every fault, and queues nothing', async () => {
    const vm = await givenBoundVm(admin, 'murano');
    const beyond = {
      ...{ FormatVersion: '2.3.0', Body: 'return 1', Scripts: { s: script('Bash', 'text') } },
      Files: {
        text: file('Text', 'true'),
        binary: file('Base64', '/w=='),
        remote: file('URI', 'https://example.net/f'),
      },
    };
    await expect(vm.queue(beyond)).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'beyond_agent' },
      faults: [
        { path: '/FormatVersion', code: 'murano_format' },
        { path: '/Scripts/s/Type', code: 'murano_type' },
        { path: '/Files/binary/Body', code: 'murano_binary' },
        { path: '/Files/remote/BodyType', code: 'murano_body_type' },
      ],
    });
    expect(await vm.publish()).toBeNull();
    expect((await vm.queue(smallPlan)).channel).toBe('amqp');
  });

  test('of Annex on the same queue takes the same plan', async () => {
    const vm = await givenBoundVm(admin);
    const bash = { FormatVersion: '2.3.0', Scripts: { s: script('Bash', 'f') }, Files: { f: file('Text', 'true') } };
    expect((await vm.queue(bash)).state).toBe('queued');
  });
});
