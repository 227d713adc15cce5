/** Optional columns, in display order. The name column is always shown. */
export const columnNames = [
  'health',
  'reason',
  'since',
  'extensions',
  'agent',
  'lastSeen',
  'tags',
  'goalState',
  'system',
  'clockSkew',
  'cloudService',
  'instanceId',
] as const;
export type ColumnName = (typeof columnNames)[number];

/** The table's columns and density, which the browser stores. */
export interface TableLook {
  columns: readonly ColumnName[];
  compact: boolean;
}

const usual: TableLook = { columns: ['health', 'reason', 'extensions', 'lastSeen', 'tags'], compact: false };

/** Parses the text that `writeLook` returns. Returns the default look for any other text. */
export function readLook(text: string | undefined): TableLook {
  if (text === undefined || !/^[\w.]*(~compact)?$/.test(text)) return usual;
  const [names = '', compact] = text.split('~');
  const chosen = names.split('.');
  return { columns: columnNames.filter((name) => chosen.includes(name)), compact: compact === 'compact' };
}

/** Formats the table's columns and density for a cookie. */
export function writeLook({ columns, compact }: TableLook): string {
  return columns.join('.') + (compact ? '~compact' : '');
}

/** Widths in pixels of columns whose values all have about the same length. */
const fixed: Partial<Record<'name' | ColumnName, number>> = {
  health: 156,
  since: 128,
  agent: 92,
  lastSeen: 124,
  goalState: 104,
  system: 132,
  clockSkew: 116,
  cloudService: 184,
  instanceId: 280,
};
/** How the other columns share the remaining width. */
const shares: Partial<Record<'name' | ColumnName, number>> = { name: 2, reason: 3.2, extensions: 3.3, tags: 1.7 };
const least: Partial<Record<'name' | ColumnName, number>> = { name: 160, reason: 160, extensions: 140, tags: 128 };
/** The table width from which the shares are computed. */
const usualWidth = 1_200;

/** The order in which columns are hidden if not all chosen columns fit into the window. */
const dispensable: readonly ColumnName[] = [
  'instanceId',
  'cloudService',
  'clockSkew',
  'system',
  'goalState',
  'agent',
  'tags',
  'since',
  'lastSeen',
];
/** Minimum width for the default columns. A table of at least this width shows all chosen columns. */
export const roomy = 868;
/** Width in pixels of the table in the narrowest window that shows each row on one line. */
export const tightest = 620;

/** Returns the chosen columns that fit into a table of this width. */
export function columnsThatFit(columns: readonly ColumnName[], width: number): readonly ColumnName[] {
  if (width >= roomy) return columns;
  let fitting = columns;
  for (const column of dispensable) {
    if (widthsOf(fitting).least <= width) break;
    fitting = fitting.filter((other) => other !== column);
  }
  return fitting;
}

/** Returns the widths of columns as CSS values, and the minimum width of the table in pixels. */
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
      // The extensions column has no set width, so it takes what remains. If the extensions column is hidden, the other
      // flexible columns take what remains.
      if (column === 'extensions' || !columns.includes('extensions')) return undefined;
      const share = Math.max((shares[column] ?? 0) * rest, least[column] ?? 0);
      return `${((share * 100) / usualWidth).toFixed(2)}%`;
    },
    least: sum(fixed) + sum(least),
  };
}
