import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bannedNames, bannedPhrases, wordingFaults } from './wording.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'annex-wording-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function plant(name: string, text: string): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** One example per banned phrase, in the same order. */
const phrases = [
  'is told',
  'was made',
  'is let',
  'nobody',
  'whoever',
  'no more',
  'at once',
  'by itself',
  'of its own',
  'anew',
  'asked for',
  'stands in',
  'lies on',
  'moved on',
  'came to be',
  'dear',
  'how-manieth',
];
const names = ['weighRevert', 'ToldMachine', 'saidOf', 'mostBytes', 'asNobody', 'sooner', 'dear', 'askForKey'];

test('each banned phrase and name has an example here', () => {
  expect(phrases.map((phrase) => bannedPhrases.findIndex(([pattern]) => pattern.test(phrase)))).toEqual([
    ...bannedPhrases.keys(),
  ]);
  expect(names.map((name) => bannedNames.findIndex(([pattern]) => pattern.test(name)))).toEqual([
    ...bannedNames.keys(),
  ]);
});

describe.each(phrases)('“%s” is found', (phrase) => {
  test.each([
    [
      'a text of the pages',
      'locales/en/vms.json',
      JSON.stringify({ list: { empty: `It ${phrase} here.` } }),
      ' list.empty',
    ],
    ['a document', 'docs/agent.md', `# Agent\n\nIt ${phrase} here.\n`, ':3'],
    ['the README', 'README.md', `It ${phrase} here.\n`, ':1'],
    ['a comment', 'server/domain/vms/vm.ts', `\n/**\n * It ${phrase} here.\n */\nexport const vm = 1;\n`, ':3'],
    ['a comment of a test', 'agent/run.test.ts', `// It ${phrase} here.\n`, ':1'],
    ['the name of a test', 'agent/run.test.ts', `\ntest('it ${phrase} here', () => {});\n`, ':2'],
    ['the name of a test of a table', 'agent/run.test.ts', `test.each([1])('%s ${phrase} here', () => {});\n`, ':1'],
  ])('in %s', (_, file, text, place) => {
    plant(file, text);
    expect(wordingFaults(root)).toEqual([expect.stringContaining(`${file}${place}: “${phrase}” (better: `)]);
  });
});

test.each(names)('the name %s is found where it is declared', (name) => {
  plant('server/rest/names.ts', `export function open() {\n  const ${name} = 1;\n  return ${name};\n}\n`);
  expect(wordingFaults(root)).toEqual([expect.stringContaining(`server/rest/names.ts:2: “${name}” (better: `)]);
});

test('code in documents, strings in code and German texts are exempt', () => {
  plant('docs/protocol.md', 'The code `is told`.\n\n```sh\necho nobody\n```\n');
  plant('server/rest/answer.ts', "export const code = 'nobody';\n");
  plant('locales/de/vms.json', JSON.stringify({ name: 'nobody' }));
  expect(wordingFaults(root)).toEqual([]);
});
