/** Columns that can be chosen, in their order; the name is always there. */
export const columnNames = [
  'health',
  'since',
  'extensions',
  'agent',
  'lastSeen',
  'tags',
  'goalState',
  'system',
  'clockSkew',
] as const;
export type ColumnName = (typeof columnNames)[number];

/** How the table looks in this browser. */
export interface TableLook {
  columns: readonly ColumnName[];
  compact: boolean;
}

const usual: TableLook = { columns: ['health', 'extensions', 'agent', 'lastSeen', 'tags'], compact: false };

/** Reads what `writeLook` wrote; the usual look for anything else. */
export function readLook(text: string | undefined): TableLook {
  if (text === undefined || !/^[\w.]*(~compact)?$/.test(text)) return usual;
  const [names = '', compact] = text.split('~');
  const chosen = names.split('.');
  return { columns: columnNames.filter((name) => chosen.includes(name)), compact: compact === 'compact' };
}

/** A look as a cookie holds it. */
export function writeLook({ columns, compact }: TableLook): string {
  return columns.join('.') + (compact ? '~compact' : '');
}

/** Width of a column: pixels, or a share of the table; `extensions` takes what is left. */
export const widths: Readonly<Record<'name' | ColumnName, string | undefined>> = {
  name: '19%',
  health: '136px',
  since: '104px',
  extensions: undefined,
  agent: '76px',
  lastSeen: '112px',
  tags: '20%',
  goalState: '96px',
  system: '132px',
  clockSkew: '96px',
};
