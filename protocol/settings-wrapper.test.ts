import { expect, test } from 'vitest';
import { unwrapSettings } from './settings-wrapper.ts';

const halves = { publicSettings: { port: 80 }, protectedSettings: { key: 'value' } };

test.each<[string, unknown, unknown]>([
  ['handlerSettings', { handlerSettings: halves }, halves],
  ['runtimeSettings', { runtimeSettings: [{ handlerSettings: halves }] }, halves],
  ['an empty wrapper', { handlerSettings: {} }, {}],
  ['one half', { handlerSettings: { publicSettings: { a: 1 } } }, { publicSettings: { a: 1 } }],
  ['text as protected settings', { handlerSettings: { protectedSettings: 'text' } }, { protectedSettings: 'text' }],
  ['null as protected settings', { handlerSettings: { protectedSettings: null } }, { protectedSettings: null }],
  ['null as public settings', { handlerSettings: { publicSettings: null } }, {}],
  ['null as thumbprint', { handlerSettings: { ...halves, protectedSettingsCertThumbprint: null } }, halves],
  ['an empty thumbprint', { handlerSettings: { ...halves, protectedSettingsCertThumbprint: '' } }, halves],
])('AZ-C1 settings are unwrapped: %s', (_, value, settings) => {
  expect(unwrapSettings(value)).toEqual({ settings, faults: [] });
});

const sealed = { protectedSettings: 'MIIB', protectedSettingsCertThumbprint: 'AB' };

test.each<[string, unknown, string[]]>([
  ['both wrappers', { handlerSettings: {}, runtimeSettings: [] }, ['/runtimeSettings settings_mixed']],
  [
    'public settings next to a wrapper',
    { handlerSettings: {}, publicSettings: {} },
    ['/publicSettings settings_mixed'],
  ],
  ['an unknown property next to a wrapper', { handlerSettings: {}, other: 1 }, ['/other field_unknown']],
  ['an unknown property inside', { handlerSettings: { other: 1 } }, ['/handlerSettings/other field_unknown']],
  ['a list', { handlerSettings: [] }, ['/handlerSettings field_not_object']],
  [
    'a number as settings',
    { handlerSettings: { publicSettings: 1 } },
    ['/handlerSettings/publicSettings field_not_object'],
  ],
  ['no list', { runtimeSettings: {} }, ['/runtimeSettings field_not_array']],
  ['an empty list', { runtimeSettings: [] }, ['/runtimeSettings settings_several']],
  ['two elements', { runtimeSettings: [{}, {}] }, ['/runtimeSettings settings_several']],
  ['an element that is not an object', { runtimeSettings: [1] }, ['/runtimeSettings/0 field_not_object']],
  ['an empty element', { runtimeSettings: [{}] }, ['/runtimeSettings/0/handlerSettings field_missing']],
  [
    'an element with an unknown property',
    { runtimeSettings: [{ handlerSettings: {}, publicSettings: {}, more: 1 }] },
    ['/runtimeSettings/0/publicSettings settings_mixed', '/runtimeSettings/0/more field_unknown'],
  ],
  [
    'a thumbprint',
    { handlerSettings: sealed },
    ['/handlerSettings/protectedSettingsCertThumbprint settings_encrypted'],
  ],
  [
    'a thumbprint in a list',
    { runtimeSettings: [{ handlerSettings: sealed }] },
    ['/runtimeSettings/0/handlerSettings/protectedSettingsCertThumbprint settings_encrypted'],
  ],
])('AZ-C1 a wrapper is rejected by path: %s', (_, value, expected) => {
  const faults = unwrapSettings(value)?.faults.map(({ path, code }) => `/${path.join('/')} ${code}`);
  expect(faults).toEqual(expected);
});

test.each([[{}], [halves], [null], ['text'], [[]], [[{ handlerSettings: {} }]]])('%j has no wrapper', (value) => {
  expect(unwrapSettings(value)).toBeNull();
});
