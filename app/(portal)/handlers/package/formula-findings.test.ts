import { expect, test } from 'vitest';
import { isInManifest, lineOf, manifestNameOf, type PackageFinding } from './finding.ts';

const text = 'name: blog\nrequires:\n  db:\n    interface: My SQL\nmasked: [a]\n';
const finding = (path: string, code: string, message = ''): PackageFinding => ({
  status: 'failed',
  path,
  code,
  message,
});

test.each([
  ['a field', finding('metadata.yaml#/requires/db/interface', 'relation_interface_form'), 4],
  ['an item of a list', finding('metadata.yaml#/masked/0', 'field_not_text'), 5],
  ['a missing field', finding('metadata.yaml#/name/absent', 'field_missing'), 6],
  ['the syntax', finding('metadata.yaml', 'yaml_broken', 'This is not valid YAML: line 3, column 64.'), 3],
  ['a line after the end', finding('metadata.yaml', 'yaml_broken', 'This is not valid YAML: line 9, column 1.'), 5],
])('a finding about %s is shown at its line', (_, one, line) => {
  expect(lineOf(text, one)).toBe(Math.min(line, 5));
});

test('a finding about the file is shown at the file', () => {
  expect(isInManifest(finding('metadata.yaml#/name', 'field_missing'))).toBe(true);
  expect(isInManifest(finding('metadata.yaml', 'metadata_absent'))).toBe(false);
  expect(isInManifest(finding('metadata.yaml', 'package_is_formula'))).toBe(false);
  expect(isInManifest(finding('config.yaml#/options/a', 'option_type'))).toBe(false);
});

test('the manifest is the one that the package has', () => {
  expect(manifestNameOf([{ name: 'metadata.yaml' }, { name: 'hooks/install' }], [])).toBe('metadata.yaml');
  expect(manifestNameOf([{ name: 'HandlerManifest.json' }, { name: 'metadata.yaml' }], [])).toBe(
    'HandlerManifest.json',
  );
  expect(manifestNameOf([], [])).toBe('HandlerManifest.json');
});
