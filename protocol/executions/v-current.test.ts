import { expect, test } from 'vitest';
import { PlanFaults } from './plan-faults.ts';
import { fromVCurrent, fromVCurrentResult, readVCurrent, toVCurrentResult } from './v-current.ts';

const convert = (plan: Record<string, unknown>) => {
  const read = readVCurrent(new PlanFaults(), plan);
  return read === null ? null : fromVCurrent(read, 'id-1');
};

const golden = `{
  "FormatVersion": "2.0.0",
  "Action": "execute",
  "ID": "id-1",
  "Stamp": 5,
  "Name": "Auto-converted",
  "Body": "try:\\n    r = ps.fn(a=args['fn_a'])\\n    r = getattr(ps, 'New-Person')(**{'First Name': args['New-Person_First Name'], 'b': args['New-Person_b']})\\n    r = ps.fn(a=args['fn_a_2'])\\n    r = ps.fn(a=args['fn_a'])\\nexcept Exception:\\n    api.logError('A command failed.', exception_info=True)\\n    raise\\nreturn r\\n",
  "Parameters": {
    "fn_a": 1,
    "New-Person_First Name": "Ada",
    "New-Person_b": null,
    "fn_a_2": 2
  },
  "Scripts": {
    "ps": {
      "Type": "PowerShell",
      "EntryPoint": "entry",
      "Files": [
        "script1",
        "script2"
      ],
      "Options": {}
    }
  },
  "Files": {
    "script1": {
      "Name": "script1.ps1",
      "BodyType": "Base64",
      "Body": "YQ=="
    },
    "script2": {
      "Name": "script2.ps1",
      "BodyType": "Base64",
      "Body": "Yg=="
    },
    "entry": {
      "Name": "entry.ps1",
      "BodyType": "Text",
      "Body": ". \\"$PSScriptRoot/script1.ps1\\"\\n. \\"$PSScriptRoot/script2.ps1\\"\\n"
    }
  }
}`;

test('a plan is converted by the seven steps, byte for byte (MU-17, MU-67)', () => {
  const plan = {
    Scripts: ['YQ==', 'Yg=='],
    Commands: [
      { Name: 'fn', Arguments: { a: 1 } },
      { Name: 'New-Person', Arguments: { 'First Name': 'Ada', b: null } },
      { Name: 'fn', Arguments: { a: 2 } },
      { Name: 'fn', Arguments: { a: 1 } },
    ],
    Stamp: 5,
  };
  expect(JSON.stringify(convert(plan), null, 2)).toBe(golden);
});

test.each<[reboot: number | undefined, body: string]>([
  [undefined, 'try:\n    r = ps.fn()\nexcept Exception:\n    …\n    raise\nreturn r\n'],
  [0, 'try:\n    r = ps.fn()\nexcept Exception:\n    …\n    raise\nreturn r\n'],
  [1, 'try:\n    r = ps.fn()\n    api.reboot()\nexcept Exception:\n    …\n    raise\nreturn r\n'],
  [2, 'try:\n    r = ps.fn()\nexcept Exception:\n    …\n    raise\nfinally:\n    api.reboot()\nreturn r\n'],
])('RebootOnCompletion %s restarts the machine accordingly', (reboot, body) => {
  const converted = convert({ Commands: [{ Name: 'fn' }], RebootOnCompletion: reboot });
  expect(String(converted?.Body).replace(/api\.logError\(.*\)/, '…')).toBe(body);
});

test('names cannot end the quotes around them', () => {
  const hostile = `x'); import os #\n\\`;
  const body = String(convert({ Commands: [{ Name: hostile, Arguments: { [hostile]: 1 } }] })?.Body);
  expect(body).toContain(String.raw`getattr(ps, 'x\'); import os #\u000a\\')(**{'x\'); import os #\u000a\\': args[`);
});

test('a keyword of Python is not an identifier', () => {
  expect(convert({ Commands: [{ Name: 'import', Arguments: { a: 1 } }] })?.Body).toContain("getattr(ps, 'import')(a=");
  expect(convert({ Commands: [{ Name: 'fn', Arguments: { class: 1 } }] })?.Body).toContain("ps.fn(**{'class': ");
});

test('a suffix never results in the name of another parameter', () => {
  const commands = [
    { Name: 'fn', Arguments: { a: 1, a_2: 'own' } },
    { Name: 'fn', Arguments: { a: 2 } },
  ];
  expect(convert({ Commands: commands })?.Parameters).toEqual({ fn_a: 1, fn_a_2: 'own', fn_a_3: 2 });
});

test.each<[code: number, result: object]>([
  [0, { IsException: false, Result: { IsException: false, Result: 'b' } }],
  [1, { IsException: false, Result: { IsException: true, Result: 'b' } }],
  [2, { IsException: true, Result: 'b' }],
  [99, { IsException: true, Result: 'b' }],
  [100, { IsException: false, Result: { IsException: true, Result: 'b' } }],
  [107, { IsException: false, Result: { IsException: true, Result: 'b' } }],
])('a result with code %i is converted back (MU-17)', (code, result) => {
  expect(toVCurrentResult({ ErrorCode: code, Body: 'b' })).toEqual(result);
});

test.each<[what: string, result: unknown, code: 0 | 1 | null, body: unknown]>([
  ['of a plan that could not run', { IsException: true, Result: { Message: 'm' } }, null, { Message: 'm' }],
  ['of a script that failed', { IsException: false, Result: { IsException: true, Result: 'b' } }, 1, 'b'],
  ['of a plan that succeeded', { IsException: false, Result: { IsException: false, Result: 'b' } }, 0, 'b'],
  [
    'with a list whose second command failed',
    {
      IsException: false,
      Result: [
        { IsException: false, Result: 1 },
        { IsException: true, Result: 'b' },
      ],
    },
    1,
    'b',
  ],
  [
    'with a list without failures',
    { IsException: false, Result: [{ IsException: false, Result: 1 }] },
    0,
    [{ IsException: false, Result: 1 }],
  ],
  ['without an inner result', { IsException: false, Result: null }, 0, null],
])('a result %s is read', (_, result, code, body) => {
  expect(fromVCurrentResult(result as Parameters<typeof fromVCurrentResult>[0])).toEqual({ code, body });
});
