type Values = Readonly<Record<string, unknown>>;

/** The options that all types of scripts can turn on or off, with their defaults. */
const common = { verifyExitcode: true, captureStdout: true, captureStderr: true, reboots: false } as const;
const switchesOfTypes = {
  Puppet: { noop: false },
  Chef: { useBerkshelf: false },
  SaltStack: { test: false },
} as const;

export type SwitchName = keyof typeof common | 'noop' | 'useBerkshelf' | 'test';
export type TextName = 'stdin' | 'commandLine' | 'berksfilePath';

/** Returns the options that scripts of a type can turn on or off, with their defaults. */
export function switchesOf(type: string): [SwitchName, boolean][] {
  const own = Object.hasOwn(switchesOfTypes, type) ? switchesOfTypes[type as keyof typeof switchesOfTypes] : {};
  return Object.entries({ ...common, ...own }) as [SwitchName, boolean][];
}

/** Returns the options of a type whose values are text. */
export function textsOf(type: string): TextName[] {
  if (type === 'Application') return ['commandLine', 'stdin'];
  return type === 'Chef' ? ['stdin', 'berksfilePath'] : ['stdin'];
}

/** Returns the options with one of them changed. A value that is undefined, empty or the default removes the option. */
export function withOption(options: Values, name: string, value: unknown, fallback?: unknown): Values {
  const { [name]: _, ...others } = options;
  return value === undefined || value === '' || value === fallback ? others : { ...others, [name]: value };
}

/** Returns a timeout in seconds: undefined for an empty text, null if it is not a whole number from 1 to 9,999,999. */
export function timeoutOf(text: string): number | undefined | null {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^[1-9]\d{0,6}$/.test(trimmed) ? Number(trimmed) : null;
}

/** An environment variable in the form. */
export interface VariableRow {
  id: number;
  name: string;
  value: string;
}

const isEmpty = ({ name, value }: VariableRow): boolean => name.trim() === '' && value === '';

/** Whether a row is empty, or has a name that no other row has. */
export function isNamed(rows: readonly VariableRow[], id: number): boolean {
  const row = rows.find((each) => each.id === id);
  if (row === undefined || isEmpty(row)) return true;
  const name = row.name.trim();
  return name !== '' && rows.every((each) => each.id === id || each.name.trim() !== name);
}

/**
 * Returns the environment variables of a form: undefined if there are none, null if a value has no name or two have the
 * same name. Empty rows are ignored.
 */
export function environmentOf(rows: readonly VariableRow[]): Record<string, string> | undefined | null {
  if (rows.some(({ id }) => !isNamed(rows, id))) return null;
  const named = rows.filter((row) => !isEmpty(row));
  return named.length === 0 ? undefined : Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}
