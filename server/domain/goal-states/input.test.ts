import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { parse } from '#server/domain/parse.ts';
import { outcomeOf } from '#server/testing/records.ts';
import {
  compareGoalStatesInput,
  listGoalStatesInput,
  planProtectedSettingsInput,
  releaseSecretsInput,
  removeExtensionInput,
  revertGoalStateInput,
  setExtensionInput,
} from './input.ts';

const vmId = '00000000-0000-4000-8000-000000000001';
const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' };

/** Returns the faults of an input, or `done` if there are none. */
const faultsOf = async (schema: z.ZodType, input: unknown): Promise<string[]> => {
  const outcome = await outcomeOf((async () => parse(schema, input))());
  return outcome === 'done' ? [] : outcome.replace('unprocessable invalid; ', '').split('; ');
};
const declared = (change: Record<string, unknown>) =>
  faultsOf(setExtensionInput, { vmId, name: 'probe', goal: { ...goal, ...change } });

describe('a declaration', () => {
  test.each([
    ['nothing but what must be there', {}],
    ['a command may take one second', { timeouts: { install: 1 } }],
    ['a command may take a day', { timeouts: { uninstall: 86_400 } }],
    ['64 dependencies', { dependsOn: Array.from({ length: 64 }, (_, n) => `e${n}`) }],
    ['a version of one number', { version: '7' }],
    ['the largest number of a version', { version: '2147483647' }],
  ])('accepts %s', async (_, change) => {
    expect(await declared(change)).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ['no handler', { handler: undefined }, ['/goal/handler field_missing']],
    ['a handler without a namespace', { handler: 'Probe' }, ['/goal/handler handler_form']],
    ['no version', { version: undefined }, ['/goal/version field_missing']],
    ['a number as version', { version: 1 }, ['/goal/version field_not_text']],
    ['a leading zero', { version: '1.01' }, ['/goal/version version_form']],
    ['five numbers', { version: '1.2.3.4.5' }, ['/goal/version version_form']],
    ['a number beyond the largest', { version: '2147483648' }, ['/goal/version version_form']],
    ['no state', { state: undefined }, ['/goal/state field_missing']],
    ['a state that only the portal declares', { state: 'uninstall' }, ['/goal/state field_choice']],
    ['text for a switch', { autoUpgradeMinorVersion: 'yes' }, ['/goal/autoUpgradeMinorVersion field_not_boolean']],
    ['a command without time', { timeouts: { enable: 0 } }, ['/goal/timeouts/enable field_too_small']],
    ['a command of more than a day', { timeouts: { disable: 86_401 } }, ['/goal/timeouts/disable field_too_big']],
    ['half a second', { timeouts: { update: 1.5 } }, ['/goal/timeouts/update field_not_integer']],
    ['a timeout of no command', { timeouts: { reset: 5 } }, ['/goal/timeouts/reset field_unknown']],
    [
      '65 dependencies',
      { dependsOn: Array.from({ length: 65 }, (_, n) => `e${n}`) },
      ['/goal/dependsOn field_too_many'],
    ],
    [
      'a dependency without a name',
      { dependsOn: ['a', ''] },
      ['/goal/dependsOn/1 field_empty', '/goal/dependsOn/1 extension_name_form'],
    ],
    ['dependencies as text', { dependsOn: 'a' }, ['/goal/dependsOn field_not_array']],
    ['an unknown field', { priority: 1 }, ['/goal/priority field_unknown']],
    ['several faults', { version: 'x', state: 'on' }, ['/goal/version version_form', '/goal/state field_choice']],
  ])('rejects %s by path', async (_, change, faults) => {
    expect(await declared(change)).toEqual(faults);
  });

  test('an omitted property has its default, and a repeated dependency counts once', () => {
    const read = parse(setExtensionInput, { vmId, name: 'probe', goal: { ...goal, dependsOn: ['b', 'a', 'b'] } });
    expect(read).toMatchObject({
      siblings: false,
      goal: { timeouts: {}, dependsOn: ['b', 'a'], autoUpgradeMinorVersion: false, settings: { publicSettings: {} } },
    });
    expect(read).not.toHaveProperty('ifMatch');
  });
});

test.each([
  ['a', []],
  ['_a', []],
  ['Acme.Lab.Probe', []],
  ['a'.repeat(64), []],
  ['', ['/name field_empty', '/name extension_name_form']],
  ['a'.repeat(65), ['/name field_too_long']],
  ['-a', ['/name extension_name_form']],
  ['a.', ['/name extension_name_form']],
  ['a b', ['/name extension_name_form']],
  ['a/b', ['/name extension_name_form']],
  ['..', ['/name extension_name_form']],
  ['ä', ['/name extension_name_form']],
  ['a\u202e', ['/name text_invisible']],
  [7, ['/name field_not_text']],
])('the name %j of an extension: %j', async (name, faults) => {
  expect(await faultsOf(setExtensionInput, { vmId, name, goal })).toEqual(faults);
  expect(await faultsOf(removeExtensionInput, { vmId, name })).toEqual(faults);
});

describe('a setting named __proto__', () => {
  const reserved = JSON.parse('{"__proto__": 1, "port": 80}');
  const below = JSON.parse('{"proxy": {"__proto__": 1}}');

  test.each(['publicSettings', 'protectedSettings'])('is rejected in %s and accepted below a setting', async (half) => {
    const faults = [`/goal/settings/${half}/__proto__ name_reserved`];
    expect(await declared({ settings: { [half]: reserved } })).toEqual(faults);
    expect(await declared({ settings: { handlerSettings: { [half]: reserved } } })).toEqual(faults);
    const read = parse(setExtensionInput, { vmId, name: 'probe', goal: { ...goal, settings: { [half]: below } } });
    expect(JSON.stringify(read.goal.settings)).toContain(JSON.stringify(below));
  });

  test('is rejected in changes and accepted below a setting', async () => {
    const changed = (set: unknown) => faultsOf(planProtectedSettingsInput, { vmId, name: 'probe', changes: { set } });
    expect(await changed(reserved)).toEqual(['/changes/set/__proto__ name_reserved']);
    expect(await changed(below)).toEqual([]);
  });
});

describe('AZ-C1 the two halves of settings', () => {
  const inner = '/goal/settings/handlerSettings';
  const list = '/goal/settings/runtimeSettings';
  test.each<[string, unknown, string[]]>([
    ['directly', { publicSettings: { a: 1 }, protectedSettings: { b: 2 } }, []],
    ['in their wrapper', { handlerSettings: { publicSettings: { a: 1 }, protectedSettings: { b: 2 } } }, []],
    ["in the agent's wrapper", { runtimeSettings: [{ handlerSettings: { publicSettings: { a: 1 } } }] }, []],
    ['an empty wrapper', { handlerSettings: {} }, []],
    ['no settings', {}, []],
    ['an empty thumbprint', { handlerSettings: { protectedSettingsCertThumbprint: '' } }, []],
    ['a property beside the only one', { handlerSettings: {}, note: 1 }, ['/goal/settings/note field_unknown']],
    ['a third half', { handlerSettings: { privateSettings: {} } }, [`${inner}/privateSettings field_unknown`]],
    ['both forms', { handlerSettings: {}, publicSettings: {} }, ['/goal/settings/publicSettings settings_mixed']],
    ['both wrappers', { handlerSettings: {}, runtimeSettings: [] }, ['/goal/settings/runtimeSettings settings_mixed']],
    ['a third half beside both', { publicSettings: {}, extra: {} }, ['/goal/settings/extra field_unknown']],
    ['public settings as a list', { publicSettings: [] }, ['/goal/settings/publicSettings field_not_object']],
    [
      'public settings as text',
      { handlerSettings: { publicSettings: '' } },
      [`${inner}/publicSettings field_not_object`],
    ],
    ['a wrapper that is a list', { handlerSettings: [] }, [`${inner} field_not_object`]],
    ['a wrapper that is null', { handlerSettings: null }, [`${inner} field_not_object`]],
    ['no element', { runtimeSettings: [] }, [`${list} settings_several`]],
    ['two elements', { runtimeSettings: [{}, {}] }, [`${list} settings_several`]],
    ['an element without settings', { runtimeSettings: [{}] }, [`${list}/0/handlerSettings field_missing`]],
    ['an element with more', { runtimeSettings: [{ handlerSettings: {}, x: 1 }] }, [`${list}/0/x field_unknown`]],
    [
      'settings that are encrypted for one machine',
      { handlerSettings: { protectedSettings: 'MII', protectedSettingsCertThumbprint: 'AB' } },
      [`${inner}/protectedSettingsCertThumbprint settings_encrypted`],
    ],
    ['settings as text', 'a=1', ['/goal/settings field_not_object']],
    ['settings as a list', [], ['/goal/settings field_not_object']],
  ])('%s', async (_, settings, faults) => {
    expect(await declared({ settings })).toEqual(faults);
  });

  test('mean the same in all three forms', () => {
    const halves = { publicSettings: { a: 1 }, protectedSettings: { b: 2 } };
    const read = (settings: unknown) =>
      parse(setExtensionInput, { vmId, name: 'probe', goal: { ...goal, settings } }).goal.settings;
    expect(read(halves)).toEqual(halves);
    expect(read({ handlerSettings: halves })).toEqual(halves);
    expect(read({ runtimeSettings: [{ handlerSettings: halves }] })).toEqual(halves);
  });

  test('absent protected settings stay absent, and null stays null', () => {
    const read = (settings: unknown) =>
      parse(setExtensionInput, { vmId, name: 'probe', goal: { ...goal, settings } }).goal.settings;
    for (const wrap of [(halves: object) => halves, (halves: object) => ({ handlerSettings: halves })]) {
      expect(read(wrap({ publicSettings: {} })).protectedSettings).toBeUndefined();
      expect(read(wrap({ protectedSettings: null }))).toEqual({ publicSettings: {}, protectedSettings: null });
    }
  });

  test.each(['publicSettings', 'protectedSettings'] as const)('%s have at most 1,000 levels', async (half) => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as unknown;
    expect(await declared({ settings: { [half]: nested(1_000) } })).toEqual([]);
    expect(await declared({ settings: { [half]: nested(1_001) } })).toEqual([`/goal/settings/${half} json_too_deep`]);
  });
});

const largest = 2_147_483_647;
const compared = (from: unknown, to: unknown) => [compareGoalStatesInput, { vmId, from, to }] as const;
const reverted = (change: object) => [revertGoalStateInput, { vmId, incarnation: 1, ...change }] as const;
const listed = (change: object) => [listGoalStatesInput, { vmId, ...change }] as const;
const released = (thumbprint: unknown) => [releaseSecretsInput, { vmId, thumbprint }] as const;

test.each<[string, readonly [z.ZodType, unknown], string[]]>([
  ['compares with the empty state', compared(0, 1), []],
  ['compares up to the largest incarnation', compared(1, largest), []],
  ['there is no second incarnation 0', compared(1, 0), ['/to field_too_small']],
  ['an incarnation beyond the largest', compared(1, largest + 1), ['/to field_too_big']],
  ['half an incarnation', compared(1, 1.5), ['/to field_not_integer']],
  ['a revert to the empty state', reverted({ incarnation: 0 }), ['/incarnation field_too_small']],
  ['an incarnation as text', reverted({ incarnation: '3' }), ['/incarnation field_not_number']],
  ['an If-Match of 0', reverted({ ifMatch: 0 }), []],
  ['a negative If-Match', reverted({ ifMatch: -1 }), ['/ifMatch field_too_small']],
  ['an empty hash of a plan', reverted({ plan: '' }), ['/plan field_empty']],
  ['a hash of 100 characters', reverted({ plan: 'a'.repeat(100) }), []],
  ['a hash of 101 characters', reverted({ plan: 'a'.repeat(101) }), ['/plan field_too_long']],
  ['a page of one', listed({ limit: 1 }), []],
  ['a page of 100', listed({ limit: 100 }), []],
  ['a page of none', listed({ limit: 0 }), ['/limit field_too_small']],
  ['a page of 101', listed({ limit: 101 }), ['/limit field_too_big']],
  ['a long cursor', listed({ cursor: 'a'.repeat(101) }), ['/cursor field_too_long']],
  ['a thumbprint in lower case', released('ab'.repeat(20)), []],
  ['no thumbprint', released(undefined), []],
  ['a thumbprint of 39 digits', released('a'.repeat(39)), ['/thumbprint field_format']],
  ['a thumbprint with colons', released('ab:'.repeat(13)), ['/thumbprint field_format']],
  ['a VM that is not an ID', [removeExtensionInput, { vmId: 'web-1', name: 'a' }], ['/vmId field_format']],
  ['no VM', [removeExtensionInput, { name: 'a' }], ['/vmId field_missing']],
  ['force as text', [removeExtensionInput, { vmId, name: 'a', force: 'true' }], ['/force field_not_boolean']],
])('%s', async (_, [schema, input], faults) => {
  expect(await faultsOf(schema, input)).toEqual(faults);
});
