import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Comment, type ParseResult, parseSync } from 'oxc-parser';

/** A TypeScript file of the project, read and parsed. */
export interface SourceFile {
  /** Path relative to the root, with forward slashes. */
  path: string;
  text: string;
  isTest: boolean;
  program: ParseResult['program'];
  comments: Comment[];
}

/** A node of the syntax tree, with the fields that the checks use. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const test = /\.(test|spec)\.tsx?$|(^|\/)testing\/|^e2e\//;
const rooms = ['protocol', 'db', 'server', 'app', 'agent', 'scripts', 'e2e', 'bench', 'samples'];

/** Returns every TypeScript file of the project below `root`, sorted by path. */
export function sourceFiles(root: string): SourceFile[] {
  return globSync(`{${rooms.join(',')}}/**/*.{ts,tsx}`, { cwd: root })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !file.startsWith('db/migrations/'))
    .sort()
    .map((file) => parseFile(file, readFileSync(path.join(root, file), 'utf8')));
}

function parseFile(file: string, text: string): SourceFile {
  const { program, comments } = parseSync(file, text);
  return { path: file, text, isTest: test.test(file), program, comments };
}

/** Returns the line number of an offset in a text, starting at 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Calls `visit` with every node of a tree and its parent. */
export function walk(
  node: unknown,
  visit: (node: SyntaxNode, parent: SyntaxNode | null) => void,
  parent: SyntaxNode | null = null,
): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit, parent);
    return;
  }
  if (typeof node !== 'object' || node === null || typeof (node as SyntaxNode).type !== 'string') return;
  const found = node as SyntaxNode;
  visit(found, parent);
  for (const [key, value] of Object.entries(found)) if (key !== 'type') walk(value, visit, found);
}
