import { expect, test } from 'vitest';
import {
  addFile,
  addScript,
  readDraft,
  removeFile,
  removeScript,
  setBody,
  setFileText,
  setOptions,
  setScript,
} from './plan-draft.ts';

const empty = '{"FormatVersion":"2.0.0","Body":"","Scripts":{},"Files":{}}';

test('a plan that is no JSON object has no parts and is never changed', () => {
  for (const json of ['', '{', '[]', 'null']) {
    expect(readDraft(json)).toBeNull();
    expect(setBody(json, 'x')).toBe(json);
  }
});

test('the Body changes without a change to the rest, and numbers keep their notation', () => {
  const json = setBody('{"FormatVersion":"2.0.0","Parameters":{"share":1.0,"big":12345678901234567890}}', 'a\r\nb\rc');
  expect(readDraft(json)?.body).toBe('a\nb\nc');
  expect(json).toContain('"share": 1.0');
  expect(json).toContain('12345678901234567890');
});

test('a script starts with an empty file that suits its type', () => {
  const json = addScript(addScript(empty, 'install', 'Bash'), 'probe', 'Application');
  expect(readDraft(json)?.scripts).toMatchObject([
    { name: 'install', type: 'Bash', entryPoint: 'install.sh', files: [{ name: 'install.sh', text: '' }] },
    { name: 'probe', type: 'Application', files: [{ name: 'probe.sh', text: '#!/bin/sh\n' }] },
  ]);
});

test('files of a script are added, changed, chosen as entry point and removed', () => {
  let json = addFile(addScript(empty, 'install', 'Bash'), 'install', 'tls.conf', 'a\r\n');
  expect(readDraft(json)?.scripts[0]?.files).toMatchObject([{ name: 'install.sh' }, { name: 'tls.conf', text: 'a\n' }]);
  json = addFile(json, 'install', 'tls.conf', 'b\n');
  expect(readDraft(json)?.scripts[0]?.files, 'a file with the same name is replaced').toHaveLength(2);
  json = setFileText(json, 'install.sh', 'echo 1\n');
  json = setScript(json, 'install', { entryPoint: 'tls.conf' });
  expect(readDraft(json)?.scripts[0]).toMatchObject({
    entryPoint: 'tls.conf',
    files: [{ id: 'tls.conf' }, { id: 'install.sh', text: 'echo 1\n' }],
  });
  json = removeFile(json, 'install', 'install.sh');
  expect(Object.keys(JSON.parse(json).Files)).toEqual(['tls.conf']);
});

test('a file that another script uses stays when a script is removed', () => {
  let json = addScript(addScript(empty, 'one', 'Bash'), 'two', 'Bash');
  const plan = JSON.parse(json);
  plan.Scripts.two.Files = ['one.sh'];
  json = removeScript(JSON.stringify(plan), 'one');
  expect(Object.keys(JSON.parse(json).Files)).toEqual(['one.sh', 'two.sh']);
  expect(Object.keys(JSON.parse(removeScript(json, 'two')).Files)).toEqual([]);
});

test('two files with the same name in different scripts get different ids', () => {
  const json = addFile(addScript(addScript(empty, 'a', 'Bash'), 'b', 'Bash'), 'b', 'a.sh', 'x');
  expect(Object.keys(JSON.parse(json).Files)).toEqual(['a.sh', 'b.sh', 'a.sh-2']);
});

test('type, version and options change, and options that are not JSON change nothing', () => {
  let json = setScript(addScript(empty, 'a', 'Bash'), 'a', { type: 'Python', version: '3.6' });
  json = setOptions(json, 'a', '{"timeout": 300}') ?? '';
  expect(readDraft(json)).toMatchObject({
    scripts: [{ type: 'Python', version: '3.6', options: '{\n  "timeout": 300\n}' }],
  });
  expect(setOptions(json, 'a', '{')).toBeNull();
  expect(JSON.parse(setScript(json, 'a', { version: '' })).Scripts.a).not.toHaveProperty('Version');
});
