import { readDraft, type ScriptDraft } from './plan-draft.ts';

export type WarningId =
  | 'crlf'
  | 'scriptTimeout'
  | 'unknownParameter'
  | 'sysExit'
  | 'importAll'
  | 'noShebang'
  | 'secretOnCommandLine';

/** Something in a plan that can run but probably does not do what its author wants. */
export interface PlanWarning {
  id: WarningId;
  /** The script, file or parameter that it is about; empty for the whole Body. */
  name: string;
  /** The line of the Body, from 1; null if it is not about a line. */
  line: number | null;
}

/** The names of the parameters that a schema defines. `isOpen`: other names are possible too. */
export interface KnownParameters {
  names: readonly string[];
  secrets: readonly string[];
  isOpen: boolean;
}

/** Returns what is doubtful in a plan. Warnings never keep anyone from saving or publishing. */
export function lintPlan(json: string, known: KnownParameters): PlanWarning[] {
  const draft = readDraft(json);
  if (draft === null) return [];
  const all = [...known.names, ...known.secrets, ...Object.keys(draft.parameters)];
  return [
    ...lintBody(draft.body, all, known.isOpen),
    ...draft.scripts.flatMap((script) => lintScript(script, known.secrets)),
  ];
}

function lintBody(body: string, parameters: readonly string[], isOpen: boolean): PlanWarning[] {
  return withoutTexts(body)
    .split('\n')
    .flatMap((code, index): PlanWarning[] => {
      const at = (id: WarningId, name = '') => ({ id, name, line: index + 1 });
      const read = [...code.matchAll(/(?<![\w.])args\.(?!(?:get|items|keys|values)\()([A-Za-z_]\w*)/g)].map(
        ([, name = '']) => name,
      );
      const unknown = isOpen ? [] : read.filter((name) => !parameters.includes(name));
      return [
        ...[...new Set(unknown)].map((name) => at('unknownParameter', name)),
        ...(/(?<![\w.])sys\.exit\b/.test(code) ? [at('sysExit')] : []),
        ...(/^\s*from\s+\S+\s+import\s+\*/.test(code) ? [at('importAll')] : []),
      ];
    });
}

/**
 * Replaces the contents of Python's string literals and comments with spaces, so that only code is left. Line breaks
 * stay, so lines keep their numbers.
 */
export function withoutTexts(body: string): string {
  const token = /("""|''')[\s\S]*?(?:\1|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#.*/g;
  return body.replace(token, (found) => found.replace(/[^\n]/g, ' '));
}

function lintScript(
  { name, type, options, entryPoint, files }: ScriptDraft,
  secrets: readonly string[],
): PlanWarning[] {
  const { timeout, commandLine } = JSON.parse(options) as { timeout?: unknown; commandLine?: unknown };
  const main = files.find(({ id }) => id === entryPoint)?.text ?? null;
  const line = typeof commandLine === 'string' ? commandLine : '';
  return [
    ...(timeout === undefined ? [{ id: 'scriptTimeout' as const, name, line: null }] : []),
    ...(type === 'Application' && main !== null && !main.startsWith('#!')
      ? [{ id: 'noShebang' as const, name, line: null }]
      : []),
    ...secrets
      .filter((secret) => ['}', '.', '[', ':', '!'].some((end) => line.includes(`{${secret}${end}`)))
      .map(() => ({ id: 'secretOnCommandLine' as const, name, line: null })),
    ...files
      .filter(({ text }) => text?.includes('\r') === true)
      .map((file) => ({ id: 'crlf' as const, name: file.name, line: null })),
  ];
}
