import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common';
import { parser } from '@lezer/python';
import type { ErrorCode, ErrorParams, Fault } from '#server/domain/error.ts';
import { knownCallables, standardModules } from './python-names.ts';

/** A longer Body is not analyzed, so that a check stays fast. */
const maxLength = 262_144;
const maxWarnings = 100;

/** Attributes of `args` that are methods unless a parameter has their name. */
const methods = new Set(['get', 'items', 'keys', 'values', 'copy', 'setdefault', 'update', 'pop', 'popitem', 'clear']);

/** What the Body can refer to. */
export interface BodySurroundings {
  scripts: ReadonlySet<string>;
  /** The names of all parameters; null if the Body may get others too. */
  parameters: ReadonlySet<string> | null;
}

/**
 * A parameter that the Body passes to a script. `position`: index among the positional arguments, from 0. `name`: the
 * keyword; null for a positional argument.
 */
export interface PassedParameter {
  script: string;
  parameter: string;
  position: number;
  name: string | null;
}

/** The syntax tree of a Body with its text. */
export interface ParsedBody {
  text: string;
  tree: Tree;
}

/**
 * Parses a Body; null if it is too long. Accepts a Body that is indented as a whole, because the agent accepts it too.
 */
export function parseBody(body: string): ParsedBody | null {
  if (body.length > maxLength) return null;
  const indent = /^[ \t]+(?=\S)/.exec(body.split('\n').find((line) => line.trim() !== '') ?? '')?.[0];
  const text = indent === undefined ? body : body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
  return { text, tree: parser.parse(text) };
}

/** Returns warnings about likely mistakes in the Body, in the order of its lines. */
export function lintBody(body: ParsedBody, surroundings: BodySurroundings): Fault[] {
  const { text, tree } = body;
  const lineOf = lineCounter(text);
  const found: Fault[] = [];
  let isMalformed = false;
  const read = (node: SyntaxNode) => text.slice(node.from, node.to);
  const free = namesOnlyCalled(body);
  tree.iterate({
    enter: (reference) => {
      if (found.length >= maxWarnings) return false;
      const warn = (code: ErrorCode, params: ErrorParams = {}) =>
        found.push({ path: '/Body', code, params: { line: lineOf(reference.from), ...params } });
      if (reference.type.isError) {
        // Errors after the first are usually consequences of it.
        if (!isMalformed) warn('lint_syntax');
        isMalformed = true;
      } else if (reference.name === 'ImportStatement') warnOfImport(reference.node, read, warn);
      else if (reference.name === 'CallExpression') warnOfCall(reference.node, read, warn, { ...surroundings, free });
      else if (reference.name === 'MemberExpression') warnOfParameter(reference.node, read, warn, surroundings);
      return undefined;
    },
  });
  return found;
}

type Read = (node: SyntaxNode) => string;
type Warn = (code: ErrorCode, params?: ErrorParams) => void;

function warnOfImport(node: SyntaxNode, read: Read, warn: Warn): void {
  if (node.getChild('*') !== null) warn('lint_import_all');
  // A Body that catches the ImportError handles a missing module itself.
  if (node.parent?.parent?.name === 'TryStatement') return;
  for (const name of importedModules(node, read)) {
    if (!standardModules.has(name) && name !== 'muranoagent') warn('lint_unknown_module', { name });
  }
}

/** Returns the top-level names of the modules that a statement imports. */
function importedModules(node: SyntaxNode, read: Read): string[] {
  const names: string[] = [];
  const isFrom = node.firstChild?.name === 'from';
  let previous = '';
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (isFrom && child.name === 'import') break;
    if (child.name === 'VariableName' && [',', 'import', 'from'].includes(previous)) names.push(read(child));
    previous = child.name;
  }
  return names;
}

function warnOfCall(
  node: SyntaxNode,
  read: Read,
  warn: Warn,
  { scripts, free }: BodySurroundings & { free: ReadonlySet<string> },
): void {
  const callee = node.firstChild;
  if (callee === null) return;
  const name = read(callee);
  if (name === 'sys.exit' || ((name === 'exit' || name === 'quit') && free.has(name))) warn('lint_sys_exit', { name });
  else if (name === 'api.waitReboot' && isEmpty(node.getChild('ArgList'))) warn('lint_wait_reboot');
  else if (callee.name === 'VariableName' && free.has(name) && !scripts.has(name) && !isBuiltIn(name)) {
    warn('lint_unknown_call', { name });
  }
}

const exceptions = /^(?:[A-Z]\w*)?(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Group)$/;
const isBuiltIn = (name: string): boolean => knownCallables.has(name) || exceptions.test(name);

const isEmpty = (list: SyntaxNode | null): boolean => list?.firstChild?.nextSibling?.name === ')';

function warnOfParameter(node: SyntaxNode, read: Read, warn: Warn, { parameters }: BodySurroundings): void {
  const name = parameterOf(node, read);
  if (name === null || parameters === null || parameters.has(name)) return;
  if (!(methods.has(name) && node.parent?.name === 'CallExpression')) warn('lint_unknown_parameter', { name });
}

/** Returns the name of the parameter in `args.name`; null for other expressions. */
function parameterOf(node: SyntaxNode, read: Read): string | null {
  if (node.name !== 'MemberExpression' || node.firstChild === null || read(node.firstChild) !== 'args') return null;
  const property = node.getChild('PropertyName');
  return property === null ? null : read(property);
}

/**
 * Returns the names that occur only as the callee of calls. The Body does not define these names, because a definition
 * would be another occurrence.
 */
function namesOnlyCalled({ text, tree }: ParsedBody): Set<string> {
  const [called, others] = [new Set<string>(), new Set<string>()];
  tree.iterate({
    enter: (reference: SyntaxNodeRef) => {
      if (reference.name !== 'VariableName') return;
      const parent = reference.node.parent;
      const isCallee = parent?.name === 'CallExpression' && parent.firstChild?.from === reference.from;
      (isCallee ? called : others).add(text.slice(reference.from, reference.to));
    },
  });
  return new Set([...called].filter((name) => !others.has(name)));
}

/** Returns the parameters that the Body passes directly to scripts, such as `args.who` in `hello(args.who)`. */
export function passedParameters({ text, tree }: ParsedBody, scripts: ReadonlySet<string>): PassedParameter[] {
  const passed: PassedParameter[] = [];
  const read = (node: SyntaxNode) => text.slice(node.from, node.to);
  tree.iterate({
    enter: ({ name, node }) => {
      const callee = name === 'CallExpression' ? node.firstChild : null;
      if (callee === null) return;
      const script = read(
        callee.name === 'MemberExpression' && callee.firstChild !== null ? callee.firstChild : callee,
      );
      if (scripts.has(script)) passed.push(...parametersIn(node.getChild('ArgList'), read, script));
    },
  });
  return passed;
}

function parametersIn(list: SyntaxNode | null, read: Read, script: string): PassedParameter[] {
  const passed: PassedParameter[] = [];
  let [position, name]: [number, string | null] = [0, null];
  for (let child = list?.firstChild ?? null; child !== null; child = child.nextSibling) {
    if (child.name === ',') position += name === null ? 1 : 0;
    if (child.name === ',') name = null;
    if (child.nextSibling?.name === 'AssignOp') name = read(child);
    const parameter = parameterOf(child, read);
    if (parameter !== null) passed.push({ script, parameter, position, name });
  }
  return passed;
}

/** Returns a function that converts a position to a line number, from 1. Positions must not decrease between calls. */
function lineCounter(text: string): (position: number) => number {
  let [line, at] = [1, 0];
  return (position) => {
    for (; at < position; at += 1) if (text[at] === '\n') line += 1;
    return line;
  };
}
