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

/** Pixels of the columns whose values are of one kind. */
const fixed: Partial<Record<'name' | ColumnName, number>> = {
  health: 144,
  since: 128,
  agent: 92,
  lastSeen: 124,
  goalState: 104,
  system: 132,
  clockSkew: 116,
};
/** How the others share the rest, and the least they need. */
const shares: Partial<Record<'name' | ColumnName, number>> = { name: 2.3, extensions: 3.4, tags: 2 };
const least: Partial<Record<'name' | ColumnName, number>> = { name: 160, extensions: 160, tags: 128 };
/** The width of a table on a usual screen, by which the shares are worked out. */
const usualWidth = 1_200;

/** Given up one after the other where a small window has no room for all that were chosen. */
const dispensable: readonly ColumnName[] = ['clockSkew', 'system', 'goalState', 'agent', 'tags', 'since', 'lastSeen'];
/** From so many pixels on there is room for what is usual, and who chose more is shown it. */
export const roomy = 808;
/** Pixels of a table in the smallest window in which it is one. */
export const tightest = 620;

/** The chosen columns that a table of so many pixels shows. */
export function columnsThatFit(columns: readonly ColumnName[], width: number): readonly ColumnName[] {
  if (width >= roomy) return columns;
  let fitting = columns;
  for (const column of dispensable) {
    if (widthsOf(fitting).least <= width) break;
    fitting = fitting.filter((other) => other !== column);
  }
  return fitting;
}

/** Widths of the columns as a style has them, and the least width of the whole in pixels. */
export function widthsOf(columns: readonly ColumnName[]): {
  of(column: 'name' | ColumnName): string | undefined;
  least: number;
} {
  const all = ['name', ...columns] as const;
  const sum = (values: typeof fixed): number => all.reduce((total, column) => total + (values[column] ?? 0), 0);
  const rest = Math.max(0, usualWidth - sum(fixed)) / sum(shares);
  return {
    of(column) {
      const pixels = fixed[column];
      if (pixels !== undefined) return `${pixels}px`;
      // One column takes what is left.
      if (column === 'extensions' || !columns.includes('extensions')) return undefined;
      const share = Math.max((shares[column] ?? 0) * rest, least[column] ?? 0);
      return `${((share * 100) / usualWidth).toFixed(2)}%`;
    },
    least: sum(fixed) + sum(least),
  };
}
