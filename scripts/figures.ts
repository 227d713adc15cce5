import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { lineAt, type SourceFile, type SyntaxNode, sourceFiles, walk } from './source.ts';

/** A named part of the source and its number of lines. */
interface Piece {
  name: string;
  lines: number;
}

/** Measurements of the source. Only `testsPerCode` includes tests. */
export interface Figures {
  files: number;
  medianLines: number;
  longestFile: Piece;
  /** All functions as `path: name`, longest first. */
  functions: Piece[];
  /** Types that several files export under the same name, with these files. */
  duplicateTypes: Map<string, string[]>;
  /**
   * Lines of tests per line of code, sorted by name, for each module of the domain, for the whole domain, and for
   * `doors`, the entry points.
   */
  testsPerCode: Map<string, number>;
}

/** Maximum number of lines in a function. */
export const maxFunctionLines = 80;

/** Minimum lines of tests per line of code, for each module of the domain. */
export const minTestsPerCode = 1;

const functionType = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const typeDeclaration = /^(TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/;

/** Measures the TypeScript files below `root`. */
export function readFigures(root: string): Figures {
  const all = sourceFiles(root);
  const code = all.filter((file) => !file.isTest);
  const lengths = code.map((file) => ({ name: file.path, lines: lineCount(file.text) }));
  lengths.sort(longestFirst);
  return {
    files: code.length,
    medianLines: lengths[lengths.length >> 1]?.lines ?? 0,
    longestFile: lengths[0] ?? { name: '', lines: 0 },
    functions: code.flatMap(functionsOf).sort(longestFirst),
    duplicateTypes: duplicateTypesOf(code),
    testsPerCode: testsPerCodeOf(all),
  };
}

/** Formats the faults, one per line: figures beyond their limits, and types exported twice. */
export function faultsOf({ functions, duplicateTypes, testsPerCode }: Figures): string[] {
  return [
    ...functions
      .filter(({ lines }) => lines > maxFunctionLines)
      .map(({ name, lines }) => `${name} has ${lines} lines; split functions longer than ${maxFunctionLines}`),
    ...[...duplicateTypes].map(
      ([name, files]) =>
        `${name} is exported by ${files.join(' and ')}; import one of them, or rename the one that means something else`,
    ),
    ...[...testsPerCode]
      .filter(([subject, ratio]) => subject.startsWith('domain/') && ratio < minTestsPerCode)
      .map(
        ([subject, ratio]) =>
          // Rounds down, so that a ratio below the minimum never appears as the minimum.
          `server/${subject} has ${(Math.floor(ratio * 100) / 100).toFixed(2)} lines of tests per line of code; at least ${minTestsPerCode} is required, so test what it decides`,
      ),
  ];
}

/** Formats the figures as one line, which `npm run verify` prints. */
export function printFigures(figures: Figures): string {
  const { files, medianLines, longestFile, functions, duplicateTypes, testsPerCode } = figures;
  const longest = functions[0] ?? { name: 'none', lines: 0 };
  const least = [...testsPerCode].sort(([, a], [, b]) => a - b)[0];
  return [
    `${files} files, median ${medianLines} lines, longest ${longestFile.lines} (${longestFile.name})`,
    `longest function ${longest.lines} (${longest.name})`,
    `${functions.filter(({ lines }) => lines > maxFunctionLines).length} functions over ${maxFunctionLines}`,
    `${duplicateTypes.size} types exported twice`,
    `tests per code ${testsPerCode.get('domain')?.toFixed(2) ?? '0'} in the domain, ${testsPerCode.get('doors')?.toFixed(2) ?? '0'} at the doors${least ? `, least ${least[1].toFixed(2)} (${least[0]})` : ''}`,
  ].join('; ');
}

const longestFirst = (a: Piece, b: Piece): number => b.lines - a.lines || a.name.localeCompare(b.name);

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

function functionsOf(file: SourceFile): Piece[] {
  const found: Piece[] = [];
  walk(file.program, (node, parent) => {
    if (!functionType.test(node.type) || !node.body) return;
    const lines = lineAt(file.text, node.end) - lineAt(file.text, node.start) + 1;
    found.push({ name: `${file.path}: ${nameOf(node) ?? nameOf(parent) ?? 'a function without a name'}`, lines });
  });
  return found;
}

function nameOf(node: SyntaxNode | null): string | null {
  const named = (node?.id ?? node?.key) as { name?: string } | null | undefined;
  return named?.name ?? null;
}

function duplicateTypesOf(files: readonly SourceFile[]): Map<string, string[]> {
  const exporters = new Map<string, string[]>();
  for (const { path: file, program } of files) {
    for (const statement of program.body) {
      if (statement.type !== 'ExportNamedDeclaration' || !statement.declaration) continue;
      const { declaration } = statement;
      if (!typeDeclaration.test(declaration.type)) continue;
      const name = nameOf(declaration as unknown as SyntaxNode);
      if (name !== null) exporters.set(name, [...(exporters.get(name) ?? []), file]);
    }
  }
  return new Map([...exporters].filter(([, exporting]) => exporting.length > 1).sort(([a], [b]) => a.localeCompare(b)));
}

const doors = /^server\/(agent-api|rest|trpc|wire|auth|process)\//;

/** Removes lines that contain only a comment, so that a longer comment does not require more tests. */
const withoutComments = (text: string): string => text.replace(/^[ \t]*(?:\/\/|\/\*|\*).*\n/gm, '');

function testsPerCodeOf(files: readonly SourceFile[]): Map<string, number> {
  const lines = new Map<string, { tests: number; code: number }>();
  const count = (subject: string, { isTest, text }: SourceFile) => {
    const sum = lines.get(subject) ?? { tests: 0, code: 0 };
    sum[isTest ? 'tests' : 'code'] += lineCount(withoutComments(text));
    lines.set(subject, sum);
  };
  for (const file of files) {
    const module = /^server\/domain\/([^/]+)\//.exec(file.path)?.[1];
    if (file.path.startsWith('server/domain/')) count('domain', file);
    if (module !== undefined) count(`domain/${module}`, file);
    if (doors.test(file.path)) count('doors', file);
  }
  return new Map(
    [...lines]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([subject, { tests, code }]) => [subject, code === 0 ? 0 : tests / code]),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const figures = readFigures(path.resolve(import.meta.dirname, '..'));
  const faults = faultsOf(figures);
  for (const fault of faults) console.log(fault);
  console.log(`figures: ${printFigures(figures)}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
