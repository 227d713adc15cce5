import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { lineAt, type SourceFile, sourceFiles, walk } from './source.ts';

/**
 * Phrases that must not appear in texts, each with a better phrase. Adding a phrase takes one line here and an example
 * in the test.
 */
export const bannedPhrases: readonly (readonly [pattern: RegExp, better: string])[] = [
  [/\b(?:is|are|was|were|be|been) told\b/i, 'say what happens: sees, receives, is notified, the page shows'],
  [/\b(?:is|are|was|were|be|been) made\b/i, 'created, built, generated'],
  [/\b(?:is|are|was|were|be|been) let\b/i, 'may, is allowed to'],
  [/\bnobody\b/i, 'no one; or say it of the thing: unknown, unused, unassigned'],
  [/\bwhoever\b/i, 'anyone who, the person who'],
  [/\bno more\b(?! than\b| \w+ than\b)/i, 'no longer'],
  [/\bat once\b/i, 'immediately, in one call, at the same time'],
  [/\bby (?:itself|themselves)\b/i, 'automatically, alone'],
  [/\bof (?:its|their|your|our) own\b/i, 'its own, a separate'],
  [/\banew\b/i, 'again'],
  [/\basked for\b/i, 'requested'],
  [/\bstands? (?:in|on|at|by|there|here|for|behind|before|beside|under|above)\b/i, 'is, appears'],
  [/\blies (?:in|on|at|there|here|below|beside)\b/i, 'is'],
  [/\bmoved on\b/i, 'changed, is out of date'],
  [/\bcame to be\b/i, 'was created, started'],
  [/\bdear\b/i, 'expensive'],
  [/\bhow-?manieth\b/i, 'number, counter'],
];

/** Patterns that names in the code must not match, each with a better word. */
export const bannedNames: readonly (readonly [pattern: RegExp, better: string])[] = [
  [/^weigh(?!t)|Weigh(?!t)/, 'evaluate'],
  [/^told|Told/, 'reported, notified, received: what it is'],
  [/^said|Said/, 'stated, reported, printed: what it is'],
  [/^most[A-Z]/, 'max'],
  [/^nobody|Nobody/, 'anonymous, unassigned, none'],
  [/^sooner$|Sooner/, 'earliest, deadline'],
  [/^dear|Dear/, 'expensive'],
  [/^askFor/, 'request, resolve'],
];

const declaration =
  /^(FunctionDeclaration|VariableDeclarator|TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/;
const testName = /\b(?:test|it|describe)(?:\.\w+(?:\([^()]*\))?)*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
/** Code in Markdown is exempt, because names and codes of the API never change. */
const codeInMarkdown = /^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm;

/** Returns all banned phrases and names below `root`, as `path:line: phrase (better: …)`. */
export function wordingFaults(root: string): string[] {
  return [
    ...globSync('locales/en/*.json', { cwd: root })
      .sort()
      .flatMap((file) => localeFaults(root, file)),
    ...globSync(['*.md', 'docs/**/*.md'], { cwd: root })
      .sort()
      .flatMap((file) => documentFaults(root, file)),
    ...sourceFiles(root).flatMap(sourceFaults),
  ];
}

const fault = (place: string, phrase: string, better: string): string => `${place}: “${phrase}” (better: ${better})`;

function phrasesIn(text: string): { at: number; phrase: string; better: string }[] {
  return bannedPhrases.flatMap(([pattern, better]) =>
    [...text.matchAll(new RegExp(pattern, 'gi'))].map((match) => ({ at: match.index, phrase: match[0], better })),
  );
}

function localeFaults(root: string, file: string): string[] {
  const faults: string[] = [];
  const read = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      for (const { phrase, better } of phrasesIn(value)) faults.push(fault(`${file} ${key}`, phrase, better));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) read(inner, key === '' ? name : `${key}.${name}`);
    }
  };
  read(JSON.parse(readFileSync(path.join(root, file), 'utf8')), '');
  return faults;
}

function documentFaults(root: string, file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  const prose = text.replace(codeInMarkdown, (code) => code.replace(/[^\n]/g, ' '));
  return phrasesIn(prose).map(({ at, phrase, better }) => fault(`${file}:${lineAt(prose, at)}`, phrase, better));
}

function sourceFaults({ path: file, text, isTest, program, comments }: SourceFile): string[] {
  const placeOf = (at: number): string => `${file}:${lineAt(text, at)}`;
  const sentences = [
    ...comments.map(({ value, start }) => ({ sentence: value, start })),
    ...(isTest ? [...text.matchAll(testName)] : []).map((match) => ({ sentence: match[2] ?? '', start: match.index })),
  ];
  const faults = sentences.flatMap(({ sentence, start }) =>
    phrasesIn(sentence).map(({ at, phrase, better }) => fault(placeOf(start + at), phrase, better)),
  );
  walk(program, (node) => {
    if (!declaration.test(node.type)) return;
    const { name = '' } = (node.id ?? {}) as { name?: string };
    for (const [pattern, better] of bannedNames) {
      if (pattern.test(name)) faults.push(fault(placeOf(node.start), name, better));
    }
  });
  return faults;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const faults = wordingFaults(path.resolve(import.meta.dirname, '..'));
  for (const line of faults) console.log(line);
  console.log(`figures: ${faults.length} banned phrases`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
