import { type Figure, isMet } from '../sections/section.ts';

/**
 * Formats results as a plain-text table with one row per result and the target in the last column, followed by the
 * notes.
 */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    amount(figure.ours, figure.unit),
    figure.yardstick === null ? '' : amount(figure.yardstick.value, figure.unit),
    figure.yardstick?.what ?? '',
    figure.ratio === null ? '' : figure.ratio.toFixed(2),
    targetOf(figure),
  ]);
  const head = ['', 'Annex', 'baseline', '', 'ratio', 'target'];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        rightAligned.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const notes = figures.flatMap(({ what, note }) => (note === undefined ? [] : [`${what}: ${note}`]));
  return [line(head), ...rows.map(line), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

const rightAligned = new Set([1, 2, 4]);

/** Formats a number, rounded to about three significant digits, with its unit. */
export function amount(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const text = value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`;
}

function targetOf(figure: Figure): string {
  const { target } = figure;
  if (target === null) return '';
  const sign = target.kind === 'at least' ? '≥' : '≤';
  const wanted = target.of === 'ratio' ? String(target.value) : amount(target.value, figure.unit);
  return `${sign} ${wanted} ${isMet(figure) === true ? 'met' : 'MISSED'}`;
}
