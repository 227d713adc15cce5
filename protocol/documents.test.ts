import { describe, expect, test } from 'vitest';
import { read } from './fault.ts';
import handlerEnvironmentSample from './fixtures/handler-environment.json' with { type: 'json' };
import heartbeatSample from './fixtures/heartbeat-sample.json' with { type: 'json' };
import resourcesDe from './fixtures/resources-de.json' with { type: 'json' };
import statusLocalized from './fixtures/status-localized.json' with { type: 'json' };
import statusStructure from './fixtures/status-structure.json' with { type: 'json' };
import statusPlain from './fixtures/status-without-localization.json' with { type: 'json' };
import { handlerEnvironmentFile, writeHandlerEnvironment } from './handler-environment.ts';
import { heartbeatFile } from './heartbeat.ts';
import { resourceFile } from './resource-file.ts';
import { statusFile } from './status.ts';
import { parseHandlerTime } from './time.ts';

const heartbeat = (inner: unknown) => read(heartbeatFile, [{ version: 1.0, heartbeat: inner }]);
const status = (inner: unknown) =>
  read(statusFile, [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: inner }]);
const codes = (result: object) =>
  'faults' in result
    ? (result.faults as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`)
    : [];
const nested = (levels: number): unknown =>
  levels === 0 ? { status: 'success' } : { status: 'success', substatus: [nested(levels - 1)] };

describe('the samples of the source document', () => {
  test('AZ-H1 AZ-S2 the heartbeat sample is accepted', () => {
    expect(read(heartbeatFile, heartbeatSample)).toEqual({
      value: {
        status: 'ready',
        code: 0,
        message: { text: 'Sample Handler running. Waiting for a new configuration from user.' },
      },
    });
  });

  test('AZ-S2 the sample without localization is accepted: plain message, old time format', () => {
    expect(read(statusFile, statusPlain)).toEqual({
      value: {
        timestampUTC: '2013-11-13T17:46:30.447Z',
        name: 'enable wordpress',
        operation: 'installing wordpress',
        status: 'transitioning',
        formattedMessage: { lang: 'en', message: 'Enable IIS on the VM.' },
        substatus: [
          {
            name: 'Wordpress plugin',
            status: 'success',
            code: 0,
            formattedMessage: { lang: 'en', message: 'Successfully downloaded wordpress plugin.' },
            substatus: [],
          },
          {
            name: 'Enable IIS',
            status: 'transitioning',
            formattedMessage: { lang: '', message: 'Turning windows feature for enabling IIS on.' },
            substatus: [],
          },
        ],
      },
    });
  });

  test('AZ-S2 the localized sample is accepted, with a placeholder for the time', () => {
    expect(read(statusFile, statusLocalized)).toEqual({
      value: {
        timestampUTC: null,
        name: 'SharePointFrontEnd',
        operation: 'ResExtProvisioning',
        status: 'error',
        code: 12,
        message: { id: '1215', params: ['spo-sqldb.cloudapp.net', 'JoeAdmin'] },
        substatus: [],
      },
    });
  });

  test('AZ-S1 AZ-S2 a substatus may have Message, FormattedMessage and Lang', () => {
    const result = read(statusFile, statusStructure);
    expect(result).toMatchObject({
      value: {
        status: 'transitioning',
        message: { id: 'id of the localized resource', params: ['MyParam0', 'MyParam1'] },
        substatus: [
          {
            message: { id: 'id of the localized resource' },
            formattedMessage: { lang: 'Lang[-locale]', message: 'formatted user message' },
          },
        ],
      },
    });
  });

  test('AZ-G1 the handler environment is read, and written in the same form', () => {
    const result = read(handlerEnvironmentFile, handlerEnvironmentSample);
    expect(result).toMatchObject({ value: { logFolder: '<your log folder location>' } });
    if (!('value' in result)) return;
    const field = { eventsFolder: '/events', deploymentid: 'vm', rolename: 'web', instance: 'web' };
    const text = writeHandlerEnvironment('Acme.Lab.Probe', { ...result.value, ...field });
    const [sample] = handlerEnvironmentSample as { handlerEnvironment: object }[];
    expect(JSON.parse(text)).toEqual([
      { name: 'Acme.Lab.Probe', ...sample, handlerEnvironment: { ...sample?.handlerEnvironment, ...field } },
    ]);
    expect(text).toContain('"version": 1.0,');
    expect(read(handlerEnvironmentFile, JSON.parse(text))).toEqual(result);
  });
});

describe('heartbeat file', () => {
  test.each([
    [
      { status: 'NotReady', code: 3 },
      { status: 'notready', code: 3 },
    ],
    [{ STATUS: 'Ready', message: null, code: null }, { status: 'ready' }],
    [{ status: 'ready', message: '' }, { status: 'ready' }],
    [
      { status: 'ready', Message: { FormattedMessage: { Lang: 'de', Message: 'läuft' } } },
      { status: 'ready', message: { formattedMessage: { lang: 'de', message: 'läuft' } } },
    ],
    [
      { status: 'ready', formattedMessage: { lang: 'en', message: 'runs' } },
      { status: 'ready', message: { formattedMessage: { lang: 'en', message: 'runs' } } },
    ],
    [
      { status: 'ready', message: { id: 7, params: ['a'] } },
      { status: 'ready', message: { reference: { id: '7', params: ['a'] } } },
    ],
  ])('AZ-H1 %j is accepted', (inner, value) => {
    expect(heartbeat(inner)).toEqual({ value });
  });

  test.each([
    [{ status: 'fine' }, ['/0/heartbeat/status field_choice']],
    [{}, ['/0/heartbeat/status field_missing']],
    [{ Status: 4, Code: 'x' }, ['/0/heartbeat/Status field_choice', '/0/heartbeat/Code field_not_number']],
    [{ status: 'ready', code: 1.5 }, ['/0/heartbeat/code field_not_integer']],
    [{ status: 'ready', Message: 5 }, ['/0/heartbeat/Message field_not_object']],
    [{ status: 'ready', Message: {} }, ['/0/heartbeat/Message/formattedMessage field_missing']],
    ['ready', ['/0/heartbeat field_not_object']],
  ])('AZ-H1 %j is rejected with a clear error', (inner, expected) => {
    expect(codes(heartbeat(inner))).toEqual(expected);
  });

  test.each([
    [{ version: 1, heartbeat: { status: 'ready' } }, [' file_not_array']],
    [[], [' file_not_single']],
    [[{}, {}], [' file_not_single']],
    [[{ version: 2, heartbeat: { status: 'ready' } }], ['/0/version file_version']],
    [[{}], ['/0/version field_missing', '/0/heartbeat field_missing']],
    [[null], ['/0 field_not_object']],
    [undefined, [' file_not_array']],
  ])('AZ-H1 the file %j is rejected with a clear error', (file, expected) => {
    expect(codes(read(heartbeatFile, file))).toEqual(expected);
  });
});

test('AZ-H1 a heartbeat with numbers as text, as real handlers write it, is accepted', () => {
  const file = [{ version: '1.0', heartbeat: { status: 'Ready', code: '0', Message: 'fine' } }];
  expect(read(heartbeatFile, file)).toEqual({ value: { status: 'ready', code: 0, message: { text: 'fine' } } });
});

describe('a status as handlers write it', () => {
  const when = '2026-01-01T00:00:00Z';
  const reads = (file: unknown) => read(statusFile, file);

  test.each([1, 1.0, '1', '1.0', '1.0.0.0', 'v1.0', ' 1.0 '])('AZ-S1 version %j is 1.0', (version) => {
    expect(reads([{ version, timestampUTC: when, status: { status: 'success' } }])).toMatchObject({
      value: { status: 'success' },
    });
  });

  test.each([2, '2.0', '1.1', '', 'one', true])('AZ-S1 version %j is not 1.0', (version) => {
    const file = [{ version, timestampUTC: when, status: { status: 'success' } }];
    expect(codes(reads(file))).toEqual(['/0/version file_version']);
  });

  test.each([
    ['0', 0],
    [' -7 ', -7],
    ['+3', 3],
    ['12.0', 12],
    ['0x80070005', 2147942405],
    ['', undefined],
    [null, undefined],
  ])('AZ-S1 code %j is read as %j', (code, expected) => {
    expect(status({ status: 'error', code })).toEqual({
      value: {
        timestampUTC: '2026-01-01T00:00:00.000Z',
        status: 'error',
        ...(expected !== undefined && { code: expected }),
        substatus: [],
      },
    });
  });

  test.each([['1.5'], ['E12'], [[]], [true]])('AZ-S1 code %j is a fault', (code) => {
    expect(codes(status({ status: 'error', code }))).toEqual(['/0/status/code field_not_number']);
  });

  test('AZ-S2 a status with capitals, spaces, numbers as text and null for absent values is read', () => {
    const file = [
      {
        Version: '1.0',
        TimestampUTC: '/Date(1384364790447)/',
        Status: {
          Name: 7,
          Operation: null,
          ConfigurationAppliedTime: 1384364790,
          Status: ' Success ',
          Code: '0',
          Message: null,
          FormattedMessage: { Lang: null, Message: 'Enabled' },
          SubStatus: [null, { Name: 'StdOut', Status: 'SUCCESS', Code: '0', FormattedMessage: null, SubStatus: null }],
          telemetryData: [1],
          taskId: null,
        },
      },
    ];
    expect(reads(file)).toEqual({
      value: {
        timestampUTC: '2013-11-13T17:46:30.447Z',
        name: '7',
        configurationAppliedTime: '1384364790',
        status: 'success',
        code: 0,
        formattedMessage: { lang: '', message: 'Enabled' },
        substatus: [{ name: 'StdOut', status: 'success', code: 0, substatus: [] }],
      },
    });
  });

  test.each<[object, { lang: string; message: string } | undefined]>([
    [{ formattedMessage: 'plain' }, { lang: '', message: 'plain' }],
    [{ formattedMessage: { lang: 'en-US', message: null } }, undefined],
    [{ formattedMessage: { lang: 'en-US', message: 42 } }, { lang: 'en-US', message: '42' }],
    [{ formattedMessage: { lang: 'en', message: { patches: [1] } } }, { lang: 'en', message: '{"patches":[1]}' }],
    [{ formattedMessage: { message: ['a', 'b'] } }, { lang: '', message: '["a","b"]' }],
    [{ message: { lang: 'de', message: 'läuft' } }, { lang: 'de', message: 'läuft' }],
    [{ message: 5 }, { lang: '', message: '5' }],
    [
      { message: 'short', formattedMessage: { lang: 'en', message: 'long' } },
      { lang: 'en', message: 'long' },
    ],
  ])('AZ-S2 the message of %j is read', (inner, formattedMessage) => {
    const result = status({ status: 'success', ...inner });
    expect('value' in result && result.value.formattedMessage).toEqual(formattedMessage);
  });

  test('AZ-S1 in the path of a fault, null substatuses count, so that indexes match the file', () => {
    const substatus = [null, { status: 'success' }, { status: 'odd' }];
    expect(codes(status({ status: 'success', substatus }))).toEqual(['/0/status/substatus/2/status field_choice']);
  });
});

describe('status file', () => {
  test('AZ-S1 a numeric message id is read as text, and status words in any case', () => {
    expect(status({ STATUS: 'SUCCESS', Message: { ID: 1215, Params: ['a', 2, true] } })).toMatchObject({
      value: { status: 'success', message: { id: '1215', params: ['a', '2', 'true'] } },
    });
  });

  test('AZ-S1 blank ids and texts count as no message', () => {
    const result = status({ status: 'success', message: { id: '' }, formattedMessage: { lang: 'en', message: ' ' } });
    expect(result).toEqual({ value: { timestampUTC: '2026-01-01T00:00:00.000Z', status: 'success', substatus: [] } });
  });

  test('AZ-S2 a formatted message takes precedence over a plain message, because its language is known', () => {
    const result = status({
      status: 'error',
      message: 'plain',
      formattedMessage: { lang: 'en', message: 'formatted' },
    });
    expect(result).toMatchObject({ value: { formattedMessage: { lang: 'en', message: 'formatted' } } });
  });

  test.each([
    [{ status: 'done' }, ['/0/status/status field_choice']],
    [{ status: 'error', message: {} }, ['/0/status/message/id field_missing']],
    [{ status: 'error', Message: { Id: '1', Params: 'x' } }, ['/0/status/Message/Params field_not_array']],
    [{ status: 'error', message: { id: '1', params: [null] } }, ['/0/status/message/params/0 field_not_text']],
    [{ status: 'error', substatus: {} }, ['/0/status/substatus field_not_array']],
    [
      { status: 'error', SubStatus: [{ status: 'x' }, { status: 'success', code: 'x' }] },
      ['/0/status/SubStatus/0/status field_choice', '/0/status/SubStatus/1/code field_not_number'],
    ],
    [{ status: 'error', formattedMessage: { lang: 'en' } }, ['/0/status/formattedMessage/message field_missing']],
    [undefined, ['/0/status field_missing']],
  ])('AZ-S1 the faults of %j have paths', (inner, expected) => {
    expect(codes(status(inner))).toEqual(expected);
  });

  test('AZ-S1 a fault names the limit that was exceeded', () => {
    const kib = (n: number) => 'é'.repeat(n * 512);
    expect(codes(status(nested(4)))).toEqual([]);
    expect(codes(status(nested(5)))).toEqual(['/0/status substatus_too_deep']);
    expect(codes(status(nested(5000)))).toEqual(['/0/status substatus_too_deep']);
    const many = (count: number) => ({ status: 'success', substatus: Array(count).fill({ status: 'success' }) });
    expect(codes(status(many(1000)))).toEqual([]);
    expect(codes(status(many(1001)))).toEqual(['/0/status substatus_too_many']);
    expect(codes(status({ status: 'error', formattedMessage: { lang: 'en', message: kib(16) } }))).toEqual([]);
    expect(status({ status: 'error', formattedMessage: { lang: 'en', message: `${kib(16)}a` } })).toEqual({
      faults: [{ path: '/0/status/formattedMessage/message', code: 'text_too_long', params: { maximum: 16384 } }],
    });
    expect(codes(status({ status: 'error', message: { id: '1', params: [`${kib(1)}a`] } }))).toEqual([
      '/0/status/message/params/0 text_too_long',
    ]);
  });

  test('a property named __proto__ is read like any other', () => {
    const inner = JSON.parse('{"status":"success","__proto__":{"code":7}}') as unknown;
    expect(status(inner)).toMatchObject({ value: { status: 'success' } });
    expect(Object.hasOwn({ ...(status(inner) as { value: object }).value }, 'code')).toBe(false);
  });
});

describe('resource file', () => {
  test('AZ-L1 an array of one object with version, lang and messages is accepted', () => {
    expect(read(resourceFile, resourcesDe)).toEqual({
      value: { lang: 'de', messages: [{ id: '1215', text: '{1} fehler beim Anschluss an {0} herzustellen' }] },
    });
    expect(read(resourceFile, [{ Version: 1, Lang: 'ZH-hant', Messages: [{ Id: 7, Text: 'x' }] }])).toEqual({
      value: { lang: 'zh-Hant', messages: [{ id: '7', text: 'x' }] },
    });
  });

  test('AZ-L1 every fault is reported', () => {
    const messages = [
      { id: 'a', text: 'x' },
      { id: 'a', text: 'y' },
    ];
    expect(codes(read(resourceFile, [{ version: 1, lang: 'lang[-locale]', messages }]))).toEqual([
      '/0/lang language_tag',
      '/0/messages/1/id message_id_twice',
    ]);
    expect(codes(read(resourceFile, [{ version: 3, messages: [{ id: '' }, 5] }]))).toEqual([
      '/0/version file_version',
      '/0/lang field_missing',
      '/0/messages/0/id field_empty',
      '/0/messages/0/text field_missing',
      '/0/messages/1 field_not_object',
    ]);
    const many = Array.from({ length: 20_001 }, (_, id) => ({ id, text: 'x' }));
    expect(codes(read(resourceFile, [{ version: 1, lang: 'en', messages: many }]))).toEqual([
      '/0/messages messages_too_many',
    ]);
  });
});

describe('the time in a handler’s file', () => {
  test.each([
    ['2013/11/13, 17:46:30.447', '2013-11-13T17:46:30.447Z'],
    ['2013-11-13T17:46:30Z', '2013-11-13T17:46:30.000Z'],
    ['2013-11-13T17:46:30.1234567Z', '2013-11-13T17:46:30.123Z'],
    ['2013-11-13T17:46:30', '2013-11-13T17:46:30.000Z'],
    ['2013-11-13T19:46:30+02:00', '2013-11-13T17:46:30.000Z'],
    ['2013-11-13 17:46Z', '2013-11-13T17:46:00.000Z'],
    ['2013-11-13 17:46:30.447123', '2013-11-13T17:46:30.447Z'],
    ['/Date(1384364790447)/', '2013-11-13T17:46:30.447Z'],
    ['/Date(1384364790447+0000)/', '2013-11-13T17:46:30.447Z'],
    ['1384364790.447', '2013-11-13T17:46:30.447Z'],
    ['1384364790', '2013-11-13T17:46:30.000Z'],
    ['1384364790447', '2013-11-13T17:46:30.447Z'],
    ['/Date(999999999999999)/', null],
    ['7', null],
    ['2013/13/13, 17:46:30', null],
    ['2013-02-30T00:00:00Z', null],
    ['<current utc time>', null],
    ['', null],
  ])('AZ-S2 %s is parsed as %s', (text, expected) => {
    expect(parseHandlerTime(text)).toBe(expected);
  });
});
